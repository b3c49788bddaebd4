/** The Redis of a simulation: `npm run simulate` names the one that it opened. */
export function redisUrlOfSimulation(): string {
  const url = process.env['REDIS_URL']
  if (url === undefined || url === '') throw new Error('expected REDIS_URL: run it by `npm run simulate`')
  return url
}

/**
 * Answers that are being read are shared by all who ask for the same meanwhile: one change makes every page ask at once, and Redis is
 * read for one of them.
 */
export function shareReading<T>(): (key: string, read: () => Promise<T>) => Promise<T> {
  const readings = new Map<string, Promise<T>>()
  return (key, read) => {
    const known = readings.get(key)
    if (known !== undefined) return known
    const reading = read().finally(() => readings.delete(key))
    readings.set(key, reading)
    return reading
  }
}

/** A URL for logs: where it leads, and not the path, which is the secret of most hooks. */
export function redactUrl(url: string | URL): string {
  const { origin, pathname, search } = new URL(url)
  return pathname === '/' && search === '' ? origin : `${origin}/***`
}

import { useEffect, useState } from 'preact/hooks'

/** Where the page is: `#/dead/<id>?job=x` is view `dead`, id, query. */
export interface Route {
  readonly view: string
  readonly id: string | undefined
  readonly query: URLSearchParams
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  const [place = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [view = '', id] = place.split('/', 2)
  return { view, id: id === undefined ? undefined : decode(id), query: new URLSearchParams(search) }
}

/** The address of a view, with the id and the query that are set. */
export function href(view: string, id?: string, values: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(values).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '')
  const search = set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

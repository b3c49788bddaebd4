import { useEffect, useState } from 'preact/hooks'

/** Where the page is: `#/jobs/<name>/next?count=5` is view `jobs`, id, part, query. */
export interface Route {
  readonly view: string
  readonly id: string | undefined
  /** Of a view that has several; empty: the first. */
  readonly part: string
  readonly query: URLSearchParams
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  const [place = '', ...search] = hash.replace(/^#\/?/, '').split('?')
  const [view = '', id = '', part = ''] = place.split('/')
  return { view, id: id === '' ? undefined : decode(id), part, query: new URLSearchParams(search.join('?')) }
}

type Values = Readonly<Record<string, string | undefined>>

/** The address of a view, with the id and the query that are set. */
export function href(view: string, id?: string, values: Values = {}): string {
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${searchOf(values)}`
}

/** The address of a job, or of a part of its view. */
export function jobHref(name: string, part = '', values: Values = {}): string {
  return `#/jobs/${encodeURIComponent(name)}${part === '' ? '' : `/${part}`}${searchOf(values)}`
}

function searchOf(values: Values): string {
  const set = Object.entries(values).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '')
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

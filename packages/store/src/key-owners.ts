import { decodeName, encodeName } from '@cronce/core'
import { Cluster, type Redis } from 'ioredis'
import type { Store } from './store.ts'

/** The keys of one job or queue, as far as they were looked at. */
export interface KeyOwner {
  readonly kind: 'job' | 'queue'
  readonly name: string
  readonly keys: number
  /** Matches all of its keys, for `SCAN`. */
  readonly pattern: string
}

export interface KeyScan {
  readonly owners: readonly KeyOwner[]
  /** `part`: Redis holds more keys than were looked at. */
  readonly extent: 'whole' | 'part'
}

const KEYS_PER_STEP = 1_000

/**
 * Whose keys a service has in Redis. Looks at some of all keys there, step by step, so that others are served in between; never more
 * than `most` of them (of every node of a cluster).
 */
export async function scanKeyOwners(store: Store, { most }: { most: number }): Promise<KeyScan> {
  const encoded = encodeName(store.service)
  const counts = new Map<string, number>()
  let extent: KeyScan['extent'] = 'whole'
  for (const node of nodesOf(store)) {
    let cursor = '0'
    for (let looked = 0; ; ) {
      const [next, keys] = await node.scan(cursor, 'MATCH', `cronce:{${globText(encoded)}:*`, 'COUNT', KEYS_PER_STEP)
      for (const key of keys) {
        const tag = key.slice('cronce:{'.length, key.indexOf('}'))
        counts.set(tag, (counts.get(tag) ?? 0) + 1)
      }
      cursor = next
      looked += KEYS_PER_STEP
      if (cursor === '0') break
      if (looked < most) continue
      extent = 'part'
      break
    }
  }
  const owners = [...counts].flatMap(([tag, keys]): KeyOwner[] => {
    const [, kind, name] = /^:(job|queue):(.*)$/s.exec(tag.slice(encoded.length)) ?? []
    if ((kind !== 'job' && kind !== 'queue') || name === undefined) return []
    return [{ kind, name: decodeName(name), keys, pattern: `cronce:{${globText(tag)}}*` }]
  })
  return { owners: owners.toSorted((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1)), extent }
}

function nodesOf({ redis }: Store): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis]
}

/** A text that a pattern of Redis takes literally. */
function globText(text: string): string {
  return text.replaceAll(/[*?[\]\\^]/g, String.raw`\$&`)
}

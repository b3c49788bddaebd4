import { nearestName } from '../nearest-name.ts'
import { RecentMap } from '../recent-map.ts'

/** A zone of the tz database has a place in it; these two need none. */
const PLACELESS = new Set(['UTC', 'GMT'])

const PLACE = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z0-9][A-Za-z0-9_+-]*){1,2}$/

/** What the commonest abbreviations are probably meant to say. They are ambiguous (IST, CST, BST), hence refused. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  PST8PDT: 'America/Los_Angeles',
  PT: 'America/Los_Angeles',
  MST: 'America/Denver',
  MDT: 'America/Denver',
  MST7MDT: 'America/Denver',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  CST6CDT: 'America/Chicago',
  EST: 'America/New_York',
  EDT: 'America/New_York',
  EST5EDT: 'America/New_York',
  ET: 'America/New_York',
  HST: 'Pacific/Honolulu',
  BST: 'Europe/London',
  IST: 'Asia/Kolkata',
  WET: 'Europe/Lisbon',
  CET: 'Europe/Berlin',
  CEST: 'Europe/Berlin',
  MET: 'Europe/Berlin',
  EET: 'Europe/Athens',
  EEST: 'Europe/Athens',
  MSK: 'Europe/Moscow',
  JST: 'Asia/Tokyo',
  KST: 'Asia/Seoul',
  SGT: 'Asia/Singapore',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  AWST: 'Australia/Perth',
  NZST: 'Pacific/Auckland',
  NZDT: 'Pacific/Auckland',
  Z: 'UTC',
  UCT: 'UTC',
  ZULU: 'UTC',
  UNIVERSAL: 'UTC',
}

const MOST_CHECKED = 1_000

const checked = new RecentMap<string, string>(MOST_CHECKED)

/** Nothing where `zone` is a zone that this process knows by that very name, else what to say after "got ...". */
export function zoneSuggestion(zone: string): string | undefined {
  const known = checked.get(zone)
  if (known === '') return undefined
  const suggestion = known ?? suggest(zone)
  checked.set(zone, suggestion ?? '')
  return suggestion
}

function suggest(zone: string): string | undefined {
  if (PLACELESS.has(zone) || (PLACE.test(zone) && isExact(zone))) return undefined
  if (/^(UTC|GMT)?[+-]\d/i.test(zone)) return ': an offset does not say when clocks change, name a place'
  const meant = meantZone(zone)
  return meant === undefined ? ': not in the tz data of this process' : `, did you mean ${meant}?`
}

/** An older name cannot be compared (Asia/Kolkata resolves to Asia/Calcutta); of the others the letter case must be right. */
function isExact(zone: string): boolean {
  const name = resolved(zone)
  return name !== undefined && (name === zone || name.toLowerCase() !== zone.toLowerCase())
}

function meantZone(zone: string): string | undefined {
  const upper = zone.toUpperCase()
  if (PLACELESS.has(upper)) return upper
  const abbreviated = ABBREVIATIONS[upper]
  if (abbreviated !== undefined) return abbreviated
  const zones = Intl.supportedValuesOf('timeZone')
  const written = zone.trim().replaceAll(' ', '_').toLowerCase()
  const sameName =
    zones.find((name) => name.toLowerCase() === written) ??
    zones.find((name) => name.toLowerCase().endsWith(`/${written}`))
  if (sameName !== undefined) return sameName
  // A name of old without a place (Japan), or a known one in the wrong letters.
  if (isKnown(written))
    return zone.includes('/')
      ? capitalised(written)
      : new Intl.DateTimeFormat('en-US', { timeZone: written }).resolvedOptions().timeZone
  return (
    nearestName(written, zones) ??
    zones.find((name) => nearestName(written, [name.slice(name.lastIndexOf('/') + 1)]) !== undefined)
  )
}

function capitalised(zone: string): string {
  return zone.replaceAll(/(^|[/_-])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
}

function isKnown(zone: string): boolean {
  return resolved(zone) !== undefined
}

/** The name by which Intl knows a zone; it takes any letter case, and older names. */
function resolved(zone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** What somebody may do: see, change runs and jobs, or everything. Each may what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Every change that people make, and what only some may see; with the least role that may ask for it. */
export const PERMISSIONS = {
  pause: 'operator',
  resume: 'operator',
  'run-now': 'operator',
  'run-slot': 'operator',
  backfill: 'operator',
  redrive: 'operator',
  discard: 'operator',
  /** Several, or whatever a filter means: what is given up does not come back. */
  'discard-many': 'admin',
  /** `--force`: a run that has ended is walked again. */
  'run-slot-again': 'admin',
  /** What a job's definition hides of its payloads. */
  reveal: 'admin',
  'upsert-job': 'admin',
  'remove-job': 'admin',
  'pin-image': 'admin',
} as const satisfies Readonly<Record<string, Role>>

export type Action = keyof typeof PERMISSIONS

/** Whether a role may ask for a change. */
export function mayDo(role: Role, action: Action): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(PERMISSIONS[action])
}

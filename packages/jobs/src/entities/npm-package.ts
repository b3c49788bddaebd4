import { z } from 'zod'

/** One package of the npm registry. */
export const npmPackage = z.strictObject({
  name: z.string().min(1).max(214),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  /** Downloads in the month before the list was made. */
  downloads: z.int().nonnegative(),
})

export type NpmPackage = z.output<typeof npmPackage>

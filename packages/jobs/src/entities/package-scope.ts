import { z } from 'zod'

/** The packages under one npm scope, for those who maintain them. */
export const packageScope = z.strictObject({
  /** With its `@`: `@babel`. */
  scope: z.string().regex(/^@[^/]+$/),
  packages: z.int().positive(),
  downloads: z.int().nonnegative(),
})

export type PackageScope = z.output<typeof packageScope>

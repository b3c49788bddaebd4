import type { Operator } from '@cronce/operations'
import { userName } from './config.ts'
import { readText } from './option-values.ts'

/** Who asks, as the record will say: `--as`, else the user of this machine. Whoever has the URL of Redis may everything. */
export function readOperator({ as }: { readonly as?: string }): Operator {
  return { name: readText('--as', as ?? userName(), { most: 128 }), way: 'cli', role: 'admin' }
}

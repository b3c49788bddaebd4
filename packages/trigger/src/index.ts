export { createTrigger, type Trigger, type TriggerHealth, type TriggerOptions } from './create-trigger.ts'
export type { TickResult } from './tick.ts'
export type { LoopHealth } from './trigger-loop.ts'
export { DEFAULT_QUIET_MS, DEFAULT_SWEEP_MS, type TimingOptions } from './trigger-timing.ts'

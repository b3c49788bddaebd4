export * from './actions.ts'
export * from './alarm-facts.ts'
export { type FleetFacts, type JobPlace, listJobsToLookAt, readFleetFacts } from './alarm-fleet.ts'
export * from './alarm-letters.ts'
export * from './alarms.ts'
export * from './audit-reading.ts'
export * from './by-hand.ts'
export * from './change-signal.ts'
export * from './chunk-progress.ts'
export * from './chunks.ts'
export * from './claims.ts'
export * from './connection.ts'
export * from './cuts.ts'
export * from './dead-letter-head.ts'
export * from './dead-letters.ts'
export * from './done.ts'
export * from './epoch.ts'
export * from './history.ts'
export * from './job-control.ts'
export { type KeyOwner, type KeyScan, scanKeyOwners } from './key-owners.ts'
export * from './keys.ts'
export * from './ledger.ts'
export * from './ledger-entry.ts'
export * from './neighbours.ts'
export * from './open-letters.ts'
export * from './open-work.ts'
export {
  type Executor,
  failPlan,
  failUnserved,
  type MemberFault,
  type PageWritten,
  type PlanMember,
  type PlanPage,
  type PlanStart,
  type PlanYield,
  type RunEnd,
  type RunRef,
  startPlan,
  writePage,
  yieldPlan,
} from './plan.ts'
export * from './presence.ts'
export * from './raised-alarm.ts'
export * from './receipts.ts'
export * from './receipts-port.ts'
export * from './registry.ts'
export * from './safety.ts'
export { createStore, type Store, type StoreOptions } from './store.ts'
export * from './time-marks.ts'
export * from './tombstones.ts'
export * from './trigger-requests.ts'
export * from './unended.ts'

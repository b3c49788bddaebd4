import type { ServiceAccess } from '@cronce/operations'
import { afterEach } from 'vitest'
import { accessOf } from './by-hand.ts'
import type { Fleet } from './fleet.ts'
import { standOnFleet } from './fleet-ground.ts'

/** A service of one test's own, at noon of a virtual day, and what operations work on. */
export interface OperationsGround {
  readonly fleet: Fleet
  readonly access: ServiceAccess
}

/** As {@link standOnFleet}, with what operations work on. */
export function standOnGround(name: string, onTest: (ground: OperationsGround) => void): void {
  let access: ServiceAccess
  standOnFleet(name, (fleet) => {
    access = accessOf(fleet)
    onTest({ fleet, access })
  })
  // Hooks of a file end in the reverse order: the fleet's connection is closed after this.
  afterEach(() => access.enqueuer.close())
}

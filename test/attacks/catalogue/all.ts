import { agentPromises, boundPromises, copyPromises } from './host-side.ts'
import { insidePromises } from './inside.ts'
import { namePromises, rootNamePromises } from './names.ts'
import { natPromises } from './network.ts'
import type { PromiseAttacks } from './types.ts'

/** Everything that docs/security.md promises and that is attacked. */
export const allPromises: readonly PromiseAttacks[] = [
  ...insidePromises,
  ...natPromises,
  ...namePromises,
  ...rootNamePromises,
  ...copyPromises,
  ...agentPromises,
  ...boundPromises,
]

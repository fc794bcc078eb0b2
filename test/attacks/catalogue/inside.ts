import { devicePromises } from './devices.ts'
import { filePromises } from './files.ts'
import { kernelPromises } from './kernel.ts'
import { networkPromises } from './network.ts'
import { processPromises } from './processes.ts'
import type { PromiseAttacks } from './types.ts'

/** What the program attacks in an environment without a network. */
export const insidePromises: readonly PromiseAttacks[] = [
  ...filePromises,
  ...devicePromises,
  ...kernelPromises,
  ...processPromises,
  ...networkPromises,
]

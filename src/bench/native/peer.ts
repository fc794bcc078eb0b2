import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Samples } from './samples.ts'

/** Another way to checkpoint and restore the same workload. */
export interface Peer extends AsyncDisposable {
  /** takes one checkpoint and goes back to it, and notes what each took */
  round(samples: Samples): Promise<void>
}

export const run = promisify(execFile)

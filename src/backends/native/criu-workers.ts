import type { CriuCommand } from './criu.ts'
import { type Ended, keeperDismiss, keeperJob, keeperPrepare } from './keeper.ts'
import { nativeProgram } from './native-program.ts'
import { makeOwnDirectory } from './own-directory.ts'

/**
 * CRIU keeps what it learned of the kernel in /run if that is a tmpfs, and probes it anew on every
 * call (30 ms) if not. Each worker gets this directory as its /run.
 */
const kernelData = '/dev/shm/forkpoint-criu'

export interface Job {
  /** options of a worker's job, see native/cell/worker.c */
  readonly args: readonly string[]
  /** CRIU's own request */
  readonly request: Uint8Array
}

/** CRIU processes that are loaded ahead of the jobs they will do, one each. */
export interface CriuWorkers {
  /** At the beginning of an operation: loads as many as it needs, and returns at once. */
  prepare(count: number): void
  run(job: Job): Promise<Ended>
  /** Ends those that wait, as they hold on to what is mounted now. */
  dismiss(): void
}

export function criuWorkers(
  criu: () => CriuCommand,
  ids: { readonly base: number; readonly count: number },
): CriuWorkers {
  let command: CriuCommand | undefined
  const prepare = (count: number): void => {
    command ??= criu()
    makeOwnDirectory(kernelData)
    const words = ['worker', '--kdat', kernelData, '--id-base', String(ids.base)]
    words.push('--id-count', String(ids.count), '--preload', nativeProgram('preload.so'))
    keeperPrepare([...words, '--', ...command], count)
  }
  return {
    prepare,
    run: (job) => keeperJob(job.args, job.request),
    dismiss: keeperDismiss,
  }
}

import { type Ended, keeperDismiss, keeperJob, keeperPrepare } from '../linux/keeper.ts'
import { nativeProgram } from '../linux/native-program.ts'
import { makeOwnDirectory } from '../linux/own-directory.ts'
import type { Criu } from './criu.ts'
import type { ReplacedImage } from './images/replaced-images.ts'

/**
 * CRIU keeps what it learned of the kernel in /run if that is a tmpfs, and probes it anew on every
 * call (30 ms) if not. Each worker gets this directory as its /run.
 */
const kernelData = '/dev/shm/forkpoint-criu'

export interface Job {
  /** options of a worker's job, see native/cell/criu/worker.c */
  readonly args: readonly string[]
  /** CRIU's own request */
  readonly request: Uint8Array
  /** what a restore must find below the environment's root, or not at all */
  readonly names?: Buffer
  /** images that are other ones for this job */
  readonly replaced?: readonly ReplacedImage[]
}

/** CRIU processes that are loaded ahead of the jobs they will do, one each. */
export interface CriuWorkers {
  /** At the beginning of an operation: loads as many as it needs, and returns at once. */
  prepare(count: number): void
  run(job: Job): Promise<Ended>
  /** Ends those that wait, as they hold on to what is mounted now. */
  dismiss(): void
}

export function criuWorkers(find: () => Criu): CriuWorkers {
  let criu: Criu | undefined
  const prepare = (count: number): void => {
    criu ??= find()
    makeOwnDirectory(kernelData)
    const library = nativeProgram('preload.so')
    const shown = [...criu.files, library].flatMap((path) => ['--show', path])
    const words = ['worker', '--kdat', kernelData, '--preload', library, ...shown]
    keeperPrepare([...words, '--', ...criu.command], count)
  }
  return {
    prepare,
    run: ({ args, request, names = Buffer.alloc(0), replaced = [] }) => {
      const images = replaced.flatMap(({ name, content }) => [Buffer.from(name), content])
      return keeperJob(args, Buffer.concat([request, names, ...images].flatMap(block)))
    },
    dismiss: keeperDismiss,
  }
}

/** As a worker reads it: the length, and the bytes. */
function block(bytes: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return [length, bytes]
}

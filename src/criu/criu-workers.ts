import { hash } from 'node:crypto'
import { join } from 'node:path'
import { makeOwnDirectory } from '../linux/files/own-directory.ts'
import { nativeProgram } from '../linux/native-program.ts'
import type { Spawner } from '../linux/spawner.ts'
import type { Ended } from '../linux/spawner-wire.ts'
import type { Criu, CriuCommand } from './criu.ts'
import type { ReplacedImage } from './images/replaced-images.ts'
import type { KeptLogs } from './kept-logs.ts'

/**
 * CRIU caches what it knows about the kernel in /run if that is a tmpfs; otherwise it probes the kernel
 * on every call (30 ms). Each worker gets a directory below this one as its /run. The cache describes
 * the machine as one CRIU sees it, so all homes that use that CRIU share it.
 */
const kernelData = '/dev/shm/forkpoint-criu'

export interface Job {
  /** options of a worker's job, see native/cell/criu/worker.c */
  readonly args: readonly string[]
  /** CRIU's own request */
  readonly request: Uint8Array
  /** names that a restore must find below the environment's root, and nowhere else */
  readonly names?: Buffer
  /** images with different content for this job */
  readonly replaced?: readonly ReplacedImage[]
}

/** CRIU processes that are started ahead of the jobs they will do, one job each. */
export interface CriuWorkers {
  /** Starts as many as an operation will need, and returns immediately. */
  prepare(count: number): void
  run(job: Job): Promise<Ended>
  /** Ends those that are waiting, because they keep the current mounts busy. */
  dismiss(): void
  /** of jobs that failed */
  readonly logs: KeptLogs
}

export function criuWorkers(spawner: Spawner, find: () => Criu, logs: KeptLogs): CriuWorkers {
  let criu: Criu | undefined
  return {
    logs,
    prepare: (count) => {
      criu ??= find()
      spawner.prepare(workerWords(criu), count)
    },
    run: ({ args, request, names = Buffer.alloc(0), replaced = [] }) => {
      const images = replaced.flatMap(({ name, content }) => [Buffer.from(name), content])
      return spawner.job(args, Buffer.concat([request, names, ...images].flatMap(block)))
    },
    dismiss: () => spawner.dismiss(),
  }
}

function workerWords({ command, files }: Criu): string[] {
  const library = nativeProgram('preload.so')
  const shown = [...files, library].flatMap((path) => ['--show', path])
  const words = ['worker', '--kdat', kernelDataOf(command), '--preload', library, ...shown]
  return [...words, '--', ...command]
}

/** One for each CRIU: two versions would discard each other's cache. */
export function kernelDataOf(command: CriuCommand): string {
  const path = join(kernelData, hash('sha256', command.join('\0')).slice(0, 16))
  makeOwnDirectory(kernelData)
  makeOwnDirectory(path)
  return path
}

/** As a worker reads it: the length, then the bytes. */
function block(bytes: Uint8Array): Uint8Array[] {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return [length, bytes]
}

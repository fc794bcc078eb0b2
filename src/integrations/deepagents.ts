import {
  BaseSandbox,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileOperationError,
  type FileUploadResponse,
} from 'deepagents'
import type { Environment, SnapshotOptions } from '../api/handles/environment.ts'
import type { ForkOptions } from '../api/handles/forks.ts'
import type { Snapshot } from '../api/handles/snapshot.ts'
import { InvalidInputError } from '../model/errors.ts'
import { errnoOf } from './shared/errno.ts'
import { runLine } from './shared/run-line.ts'

export interface ForkpointSandboxOptions {
  /** how long one command may take; default two minutes */
  readonly timeoutMs?: number
  /** the most that one command may print; default 256 KiB */
  readonly outputBytes?: number
}

const defaultTimeoutMs = 120_000
const defaultOutputBytes = 256 * 1024
const mostDownloadedBytes = 64 * 1024 ** 2

/**
 * An environment as the backend of an agent of `deepagents`. It can be branched: a fork is a sandbox of its
 * own, for another agent.
 *
 * @example
 * const sandbox = new ForkpointSandbox(await fp.create())
 * const agent = createDeepAgent({ model, backend: sandbox })
 * const [a, b] = await sandbox.fork(2)
 */
export class ForkpointSandbox extends BaseSandbox {
  readonly id: string
  readonly environment: Environment
  readonly #options: ForkpointSandboxOptions

  constructor(environment: Environment, options: ForkpointSandboxOptions = {}) {
    super()
    this.environment = environment
    this.id = environment.id
    this.#options = options
  }

  async execute(command: string): Promise<ExecuteResponse> {
    const { timeoutMs = defaultTimeoutMs, outputBytes = defaultOutputBytes } = this.#options
    const limits = { timeoutMs, limitBytes: outputBytes }
    const { output, exitCode, truncated, timedOut } = await runLine(
      this.environment,
      command,
      limits,
    )
    if (!timedOut) return { output, exitCode, truncated }
    return { output: `${output}\n[ended after ${timeoutMs} ms]`, exitCode: 124, truncated }
  }

  async uploadFiles(files: [string, Uint8Array][]): Promise<FileUploadResponse[]> {
    return await Promise.all(
      files.map(async ([path, content]) => {
        const work = this.environment.files.write(path, Buffer.from(content), { makeParents: true })
        return { path, error: await failureOf(work) }
      }),
    )
  }

  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    return await Promise.all(
      paths.map(async (path) => {
        const reading = this.environment.files.read(path, { maxBytes: mostDownloadedBytes })
        const error = await failureOf(reading)
        return { path, content: error === null ? new Uint8Array(await reading) : null, error }
      }),
    )
  }

  /** Keeps the state of the environment, with everything that runs in it. */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    return await this.environment.snapshot(options)
  }

  /** Returns to a snapshot, in place: the agent continues with the same sandbox. */
  async restore(to: Snapshot | string): Promise<void> {
    await this.environment.restore(to)
  }

  /** Sandboxes that continue from here. */
  async fork(count = 1, options: ForkOptions = {}): Promise<ForkpointSandbox[]> {
    const forks = await this.environment.fork(count, { ...options, atomic: true })
    return forks.map((each) => new ForkpointSandbox(each, this.#options))
  }

  /** Becomes what another sandbox is: the branch to keep. */
  async promote(from: ForkpointSandbox): Promise<void> {
    await this.environment.promote(from.environment)
  }
}

/** Null if it succeeded. A failure that is not about the file is thrown. */
async function failureOf(work: Promise<unknown>): Promise<FileOperationError | null> {
  try {
    await work
    return null
  } catch (error) {
    const known = fileErrors.get(errnoOf(error) ?? '')
    if (known !== undefined) return known
    if (error instanceof InvalidInputError) return 'invalid_path'
    throw error
  }
}

const fileErrors = new Map<string, FileOperationError>([
  ['ENOENT', 'file_not_found'],
  ['EACCES', 'permission_denied'],
  ['EPERM', 'permission_denied'],
  ['EROFS', 'permission_denied'],
  ['EISDIR', 'is_directory'],
  ['ENOTDIR', 'invalid_path'],
  ['EINVAL', 'invalid_path'],
  ['ENAMETOOLONG', 'invalid_path'],
])

import { isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import { type Editor, UserError } from '@openai/agents'
import type {
  ExecCommandArgs,
  ExposedPortEndpoint,
  ListDirectoryArgs,
  Manifest,
  MaterializeEntryArgs,
  ReadFileArgs,
  SandboxDirectoryEntry,
  SandboxExecResult,
  SandboxSession,
  SandboxSessionState,
  WorkspaceArchiveData,
  WriteStdinArgs,
} from '@openai/agents/sandbox'
import type { PortForward } from '../../agent/ports.ts'
import type { Environment, SnapshotOptions } from '../../api/handles/environment.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { errnoOf } from '../shared/errno.ts'
import { type Printed, Processes } from './processes.ts'
import { editorOf, materialize, materializeEntry, resolved } from './workspace.ts'

export interface ForkpointSessionState extends SandboxSessionState {
  /** id of the environment */
  environmentId: string
}

const defaultExecMs = 10_000
const defaultWriteMs = 250
const mostReadBytes = 64 * 1024 ** 2
const bytesPerToken = 4
const archiveMs = 600_000

/** An environment as a sandbox of the Agents SDK. It can be branched. */
export class ForkpointSandboxSession implements SandboxSession<ForkpointSessionState> {
  readonly state: ForkpointSessionState
  readonly environment: Environment
  readonly #processes = new Processes()
  readonly #forwards = new Map<number, Promise<PortForward>>()
  #isRemoved = false

  constructor(environment: Environment, manifest: Manifest) {
    this.environment = environment
    this.state = { manifest, environmentId: environment.id, workspaceReady: true }
  }

  /** Keeps the state of the environment, with everything that runs in it. */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    return await this.environment.snapshot(options)
  }

  /** Returns to a snapshot, in place. */
  async restore(to: Snapshot | string): Promise<void> {
    await this.environment.restore(to)
  }

  /** Sessions that continue from here, each in an environment of its own. */
  async fork(count = 1): Promise<ForkpointSandboxSession[]> {
    const forks = await this.environment.fork(count, { atomic: true })
    return forks.map((each) => new ForkpointSandboxSession(each, this.state.manifest))
  }

  /** Becomes what another session is: the branch to keep. */
  async promote(from: ForkpointSandboxSession): Promise<void> {
    await this.environment.promote(from.environment)
  }

  async running(): Promise<boolean> {
    return !this.#isRemoved && (await this.environment.info()).status === 'running'
  }

  async exec(args: ExecCommandArgs): Promise<SandboxExecResult> {
    const begun = performance.now()
    const { id, ...printed } = await this.#processes.start(
      this.environment,
      {
        command: args.cmd,
        cwd: resolved(this.state.manifest, args.workdir ?? '.'),
        env: await this.state.manifest.resolveEnvironment(),
        shell: args.shell ?? 'bash',
        login: args.login ?? true,
        tty: args.tty ?? false,
        user: args.runAs,
      },
      args.yieldTimeMs ?? defaultExecMs,
    )
    return resultOf(printed, id, begun, args.maxOutputTokens)
  }

  async execCommand(args: ExecCommandArgs): Promise<string> {
    return described(await this.exec(args))
  }

  async writeStdin(args: WriteStdinArgs): Promise<string> {
    const { sessionId, chars = '', yieldTimeMs = defaultWriteMs, maxOutputTokens } = args
    const begun = performance.now()
    const printed = await this.#processes.write(sessionId, chars, yieldTimeMs)
    return described(resultOf(printed, sessionId, begun, maxOutputTokens))
  }

  supportsPty(): boolean {
    return true
  }

  createEditor(): Editor {
    return editorOf(this.environment, this.state.manifest)
  }

  async readFile({ path, maxBytes = mostReadBytes }: ReadFileArgs): Promise<string | Uint8Array> {
    const at = resolved(this.state.manifest, path)
    const limit = { lengthBytes: maxBytes, maxBytes }
    const bytes = await this.environment.files.read(at, limit)
    return isUtf8(bytes) ? bytes.toString('utf8') : new Uint8Array(bytes)
  }

  async listDir({ path }: ListDirectoryArgs): Promise<SandboxDirectoryEntry[]> {
    const entries = await this.environment.files.list(resolved(this.state.manifest, path))
    return entries.map(({ name, type }) => ({
      name,
      path: posix.join(path, name),
      type: type === 'directory' ? 'dir' : type === 'file' ? 'file' : 'other',
    }))
  }

  async pathExists(path: string): Promise<boolean> {
    return (await this.#typeOf(path)) !== null
  }

  async directoryExists(path: string): Promise<boolean> {
    return (await this.#typeOf(path)) === 'directory'
  }

  async materializeEntry({ path, entry }: MaterializeEntryArgs): Promise<void> {
    await materializeEntry(this.environment, resolved(this.state.manifest, path), entry)
  }

  async applyManifest(manifest: Manifest): Promise<void> {
    await materialize(this.environment, manifest)
  }

  /** The workspace as a tar archive; a snapshot keeps more, and takes less time. */
  async persistWorkspace(): Promise<Uint8Array> {
    const words = ['tar', '-C', this.state.manifest.root, '-cf', '-', '.']
    const options = { mode: 'process', timeoutMs: archiveMs } as const
    const { exitCode, raw, stderr } = await this.environment.exec(words, options)
    if (exitCode !== 0) throw new UserError(`tar failed: ${stderr.slice(0, 1000)}`)
    return new Uint8Array(raw.stdout)
  }

  async hydrateWorkspace(data: WorkspaceArchiveData): Promise<void> {
    const stdin = typeof data === 'string' ? Buffer.from(data) : Buffer.from(new Uint8Array(data))
    const words = ['tar', '-C', this.state.manifest.root, '-xf', '-']
    const options = { mode: 'process', timeoutMs: archiveMs, stdin } as const
    const { exitCode, stderr } = await this.environment.exec(words, options)
    if (exitCode !== 0) throw new UserError(`tar failed: ${stderr.slice(0, 1000)}`)
  }

  /** A port inside, forwarded to this machine while the session lives. */
  async resolveExposedPort(port: number): Promise<ExposedPortEndpoint> {
    const forward = this.#forwards.get(port) ?? this.environment.ports.forward(port)
    this.#forwards.set(port, forward)
    const { host, port: local } = await forward
    return { host, port: local, tls: false }
  }

  /** Removes the environment. Its snapshots stay. */
  async delete(): Promise<void> {
    if (this.#isRemoved) return
    this.#isRemoved = true
    await this.#processes.endAll()
    for (const forward of this.#forwards.values()) await (await forward).close()
    await this.environment.remove()
  }

  async close(): Promise<void> {
    await this.delete()
  }

  async #typeOf(path: string): Promise<string | null> {
    try {
      return (await this.environment.files.stat(resolved(this.state.manifest, path))).type
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === 'ENOENT' || errno === 'ENOTDIR') return null
      throw error
    }
  }
}

function resultOf(
  { running, exitCode, ...printed }: Printed,
  sessionId: number,
  begun: number,
  maxOutputTokens: number | undefined,
): SandboxExecResult {
  const most = (maxOutputTokens ?? Number.POSITIVE_INFINITY) * bytesPerToken
  const isLong = printed.output.length > most
  const output = isLong
    ? `${printed.output.slice(0, most)}\n[the rest is left out]`
    : printed.output
  return {
    ...printed,
    output,
    wallTimeSeconds: (performance.now() - begun) / 1000,
    ...(running ? { sessionId } : { exitCode }),
    ...(isLong && { originalTokenCount: Math.ceil(printed.output.length / bytesPerToken) }),
  }
}

/** For a model: how it ended, or the session id with which to continue. */
function described({ output, exitCode, sessionId, wallTimeSeconds }: SandboxExecResult): string {
  const state =
    sessionId === undefined
      ? `Process exited with code ${exitCode}`
      : `Process running with session ID ${sessionId}`
  return `${state} after ${wallTimeSeconds.toFixed(2)} seconds\nOutput:\n${output}`
}

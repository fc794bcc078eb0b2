// A backend for the tests only: a directory and plain processes, no root. Files are captured by
// copying them, processes are not. It shows that the interface works for something unlike `native`.
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { openAgentSocket } from '../../src/agent/wire/socket.ts'
import type {
  Backend,
  BackendContext,
  BackendMaker,
  InstanceStats,
  Ref,
} from '../../src/backends/backend.ts'
import { nativeProgram } from '../../src/linux/native-program.ts'
import { identify, isAlive } from '../../src/linux/process-identity.ts'
import type { Instance } from '../../src/model/environment.ts'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../src/model/ids.ts'
import { descendantsOf, killTree, residentBytes } from './process-tree.ts'

const lifeSchema = z.object({
  kind: z.literal('directory'),
  life: z.string(),
  process: z.object({ pid: z.number(), startTicks: z.number(), bootId: z.string() }),
})

type Life = z.infer<typeof lifeSchema>

export const directoryMaker: BackendMaker = { open: (context) => new DirectoryBackend(context) }

class DirectoryBackend implements Backend {
  readonly name = 'directory'
  readonly declares = [
    'filesystem',
    'fork',
    'restore',
    'durable',
    'ports',
    'from-dir',
  ] as const satisfies Backend['declares']
  readonly #home: string

  constructor({ settings }: BackendContext) {
    this.#home = settings.home
  }

  async check(): ReturnType<Backend['check']> {
    return [{ name: 'agent', status: 'ok', found: nativeProgram('agent') }]
  }

  /** A path that means the directory of whichever environment reads it. */
  async validate(): ReturnType<Backend['validate']> {
    return { workdir: '/proc/self/cwd' }
  }

  async create({ id, source }: Parameters<Backend['create']>[0]): Promise<Instance> {
    return await this.#start(id, source.kind === 'dir' ? source.path : '/nonexistent')
  }

  materialize({ id, snapshot }: Parameters<Backend['materialize']>[0]): Promise<Instance> {
    return this.#start(id, this.#snapshot(snapshot.id))
  }

  connect(ref: Ref): ReturnType<Backend['connect']> {
    return openAgentSocket(join(this.#place(ref), 'agent.sock'), null)
  }

  async alive(refs: readonly Ref[]): Promise<ReadonlySet<EnvironmentId>> {
    return new Set(refs.filter((ref) => isAlive(lifeOf(ref).process)).map(({ id }) => id))
  }

  async inspect(ref: Ref): ReturnType<Backend['inspect']> {
    return isAlive(lifeOf(ref).process) ? 'running' : 'dead'
  }

  async stats(ref: Ref): Promise<InstanceStats> {
    const { pid } = lifeOf(ref).process
    const pids = [pid, ...(await descendantsOf(pid))]
    const bytes = await residentBytes(pids)
    return {
      memoryBytes: bytes,
      memory: { privateBytes: bytes, sharedBytes: 0, totalBytes: bytes },
      memoryLimitBytes: null,
      cpuMs: 0,
      processes: pids.length,
      processLimit: null,
      terminals: null,
      diskBytes: await bytesBelow(join(this.#place(ref), 'files')),
      diskUsedBytes: null,
      diskLimitBytes: null,
    }
  }

  async identify(ref: Ref, identity: object): Promise<void> {
    await writeFile(join(this.#place(ref), 'identity.json'), JSON.stringify(identity))
  }

  async capture(ref: Ref, draft: SnapshotId): ReturnType<Backend['capture']> {
    const frozenAt = performance.now()
    const to = this.#snapshot(draft)
    await copyTree(join(this.#place(ref), 'files'), to)
    await promisify(execFile)('sync', ['-f', to])
    return {
      image: { kind: 'directory' },
      captured: ['filesystem'],
      original: 'runs',
      durable: true,
      filesBytes: await bytesBelow(to),
      imagesBytes: 0,
      memory: null,
      frozenAt,
      thawedAt: performance.now(),
      phases: [],
    }
  }

  abandon(_ref: Ref | null, draft: SnapshotId): Promise<void> {
    return this.discard(draft)
  }

  discard(id: SnapshotId): Promise<void> {
    return rm(this.#snapshot(id), { recursive: true, force: true })
  }

  async end(ref: Ref): Promise<void> {
    await this.#endLife(ref.id, lifeOf(ref).life)
  }

  async retire(id: EnvironmentId, keep: Instance | null): Promise<void> {
    const kept = keep && lifeOf({ instance: keep }).life
    for (const life of await names(this.#environment(id))) {
      if (life !== kept) await this.#endLife(id, life)
    }
  }

  async destroy(id: EnvironmentId): Promise<void> {
    await this.retire(id, null)
    await rm(this.#environment(id), { recursive: true, force: true })
  }

  async remnants(): ReturnType<Backend['remnants']> {
    const ids = (await names(join(this.#home, 'environments'))).filter(isEnvironmentId)
    const lives = await Promise.all(
      ids.map(async (id) =>
        (await names(this.#environment(id))).map((life) => ({
          id,
          isPartOf: (instance: Instance) => lifeOf({ instance }).life === life,
          end: () => this.#endLife(id, life),
        })),
      ),
    )
    return lives.flat()
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #environment(id: EnvironmentId): string {
    return join(this.#home, 'environments', id)
  }

  #snapshot(id: SnapshotId): string {
    return join(this.#home, 'snapshots', id)
  }

  #place(ref: Ref): string {
    return join(this.#environment(ref.id), lifeOf(ref).life)
  }

  /** The agent outlives this process, as any environment does. */
  async #start(id: EnvironmentId, from: string): Promise<Instance> {
    const life = String((await names(this.#environment(id))).length + 1)
    const place = join(this.#environment(id), life)
    const files = join(place, 'files')
    await copyTree(from, files)
    // A relative path, because the path of a socket may only have 107 bytes.
    const child = spawn(nativeProgram('agent'), ['--socket', '../agent.sock'], {
      cwd: files,
      detached: true,
      stdio: 'ignore',
    })
    child.unref()
    const process = identify(child.pid ?? 0)
    if (process === undefined) throw new Error('the agent did not start')
    await writeFile(join(place, 'process.json'), JSON.stringify(process))
    const instance = { kind: 'directory', life, process: { ...process } }
    await this.#listening({ id, instance })
    return instance
  }

  async #listening(ref: Ref): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const socket = await this.connect(ref)
        socket.destroy()
        return
      } catch (error) {
        if (tries === 1000) throw error
        await sleep(5)
      }
    }
  }

  async #endLife(id: EnvironmentId, life: string): Promise<void> {
    const place = join(this.#environment(id), life)
    const noted = await readFile(join(place, 'process.json'), 'utf8').catch(() => null)
    const process = noted === null ? null : lifeSchema.shape.process.parse(JSON.parse(noted))
    if (process && isAlive(process)) await killTree(process.pid)
    await rm(place, { recursive: true, force: true })
  }
}

function lifeOf({ instance }: Pick<Ref, 'instance'>): Life {
  return lifeSchema.parse(instance)
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
}

async function bytesBelow(dir: string): Promise<number> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map((f) => stat(join(f.parentPath, f.name))))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

function names(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => [])
}

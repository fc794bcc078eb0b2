import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tools } from '../../linux/tools.ts'
import { BackendError, PrerequisiteError } from '../../model/errors.ts'
import type { LifePlaces, Places } from './places.ts'
import { isRootless } from './rootless.ts'

/** Calls runsc about our own sandboxes. */
export interface Runsc {
  /** the words before a verb; throws if runsc is missing */
  words(): string[]
  /** Runs a verb to its end; returns what it printed. */
  ask(doing: string, ...words: readonly string[]): Promise<string>
  /** Starts a sandbox in a mount namespace of its own, after `prepare`; it keeps running when runsc has ended. */
  start(life: LifePlaces, how: StartSpec): Promise<void>
}

export interface StartSpec {
  /** words of a shell that come first */
  readonly prepare: string
  readonly words: readonly string[]
  /** a checkpoint says whether what was written is in memory or in a file, which is in it, too */
  readonly writes: 'memory' | 'file'
}

/** Where runsc is, or would be. */
export interface RunscPlace {
  /** null: the private one */
  readonly runsc: string | null
  /** directory of the private tools */
  readonly runtime: string
}

/**
 * A network of its own would make checkpoints impossible. There is no cgroup, because Forkpoint does not own one
 * for it.
 */
const flags = ['--platform=systrap', '--network=none', '--ignore-cgroups'] as const

/** Writes go to the sandbox's memory, so that one checkpoint has files and processes. */
const inMemory = '--overlay2=root:memory'

export function findRunsc({ runsc, runtime }: RunscPlace): string {
  const path = runsc ?? join(runtime, 'runsc', 'runsc')
  if (existsSync(path)) return path
  throw new PrerequisiteError(`runsc is missing: there is no ${path}`, {
    remedy:
      'run `forkpoint doctor --fix`, which fetches it, or set `gvisor.runsc` to the path of your own',
    detail: { path },
  })
}

export function runscOf(tools: Tools, places: Places, place: RunscPlace): Runsc {
  const own = isRootless() ? ['--user', '--map-root-user'] : []
  const plain = (overlay = inMemory) => [findRunsc(place), '--root', places.run, ...flags, overlay]
  // An ordinary user is root in a namespace of their own.
  const words = () => (own.length === 0 ? plain() : ['unshare', ...own, '--', ...plain()])
  return {
    words,
    ask: async (doing, ...verb) => {
      const [program = '', ...args] = words()
      const ended = await tools.run(program, [...args, ...verb])
      if (ended.exitCode === 0) return ended.stdout
      throw failure(doing, ended.stderr)
    },
    start: async (life, { prepare, words: verb, writes }) => {
      const overlay = writes === 'memory' ? inMemory : `--overlay2=root:dir=${life.writes}`
      const command = [...plain(overlay), '--log', life.log, ...verb]
      // The sandbox inherits these descriptors. Nothing inside may write to a file of the host, and
      // whoever reads our output must not wait for the sandbox to end.
      const script = `${prepare} exec "$@" </dev/null >/dev/null 2>&1`
      const doing = `starting the sandbox ${life.container}`
      const mounts = ['--mount', '--propagation', 'private', '--', 'sh', '-c', script, 'sh']
      const { exitCode, stderr } = await tools.run('unshare', [...own, ...mounts, ...command])
      if (exitCode !== 0) throw failure(doing, `${stderr}\n${lastWords(life.log)}`)
    },
  }
}

function lastWords(log: string): string {
  try {
    return readFileSync(log, 'utf8')
  } catch {
    // It did not get that far.
    return ''
  }
}

function failure(doing: string, said: string): BackendError {
  const lines = said
    .trim()
    .split('\n')
    .filter((line) => !/dmesg\(1\)/.test(line))
  return new BackendError(`${doing} failed: ${lines.at(-1) || 'runsc said nothing'}`, {
    lastWords: lines.slice(-5).join('\n'),
    remedy: 'run `forkpoint doctor`, which starts and checkpoints a sandbox',
  })
}

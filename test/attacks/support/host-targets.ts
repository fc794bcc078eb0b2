// What attacks aim at on the host, and the process that watches it.
import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { cgroupDirs } from '../../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../../src/backends/native/cell/cgroup-layout.ts'
import { patiently } from '../../support/patiently.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import type { TestHome } from '../../support/test-home.ts'
import { attackProgram } from './attack-program.ts'
import { LineReader } from './line-reader.ts'
import { type Results, readResults } from './results.ts'

type Variables = Readonly<Record<string, string>>
type Watcher = ChildProcessByStdio<Writable, Readable, null>

export interface TargetOptions {
  /** the home of the environments, and an unrelated one */
  readonly homes: { readonly own: TestHome; readonly other: TestHome }
  /** each is one run of all attacks, with its own tree of files */
  readonly passes: readonly string[]
  readonly limits: { readonly pids: number; readonly memoryBytes: number }
  /** ids of the host that users inside may have */
  readonly users: readonly number[]
}

const namespaces = ['mnt', 'pid', 'net', 'ipc', 'uts', 'user', 'cgroup'] as const

/** Files, devices, processes and sockets of the host that no attack may reach. */
export class HostTargets implements AsyncDisposable {
  readonly #files = new TemporaryDirectory()
  readonly #options: TargetOptions
  readonly #disk: string
  readonly #watcher: Watcher
  readonly #lines: LineReader
  #found: Variables = {}

  private constructor(options: TargetOptions) {
    this.#options = options
    chmodSync(this.#files.path, 0o755)
    this.#disk = attachDisk(this.#files.file('disk'))
    this.#watcher = this.#start(['watch', this.#files.path, ...options.passes])
    this.#lines = new LineReader(this.#watcher.stdout)
  }

  static async provide(options: TargetOptions): Promise<HostTargets> {
    const targets = new HostTargets(options)
    const lines = await targets.#lines.until('ready')
    targets.#found = Object.fromEntries(lines.map((line) => line.split('=')))
    return targets
  }

  /** What the mask of the environments must hide. */
  get masked(): string[] {
    return this.#options.passes.map((pass) => join(this.#files.path, pass, 'mask/masked'))
  }

  variables(pass: string): Variables {
    const tree = join(this.#files.path, pass)
    return {
      ...this.#fixed(),
      ...this.#found,
      ATTACK_CANARY: tree,
      ATTACK_MASK_PARENT: join(tree, 'mask'),
      ATTACK_MASKED: join(tree, 'mask/masked'),
      ...Object.fromEntries(namespaces.map((kind) => [`ATTACK_NS_${kind}`, ownNamespace(kind)])),
    }
  }

  /** The node of a disk in a pass's tree. */
  diskNode(pass: string): string {
    return join(this.#files.path, pass, 'devices/disk')
  }

  /** Remembers the kernel's current counters. */
  async begin(): Promise<void> {
    this.#watcher.stdin.write('begin\n')
    await this.#lines.until('done')
  }

  /** What the host sees during a pass, while its attacks hold what they took. */
  async look(pass: string): Promise<string[]> {
    this.#watcher.stdin.write(`${pass}\n`)
    return this.#lines.until('done')
  }

  /** The same attacks in a place without isolation. */
  async attackWeakPlace(): Promise<Results> {
    await using cgroup = new JoinableCgroup(this.#options.homes.own)
    const child = this.#start(['weak', this.#files.path], cgroup.variables)
    let text = ''
    for await (const chunk of child.stdout) text += String(chunk)
    const [attacks = '', seen = ''] = text.split('\ndone\n')
    return readResults(attacks.split('\n'), seen.split('\n'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher.stdin.end()
    await once(this.#watcher, 'close')
    execFileSync('losetup', ['-d', this.#disk], { stdio: 'pipe' })
    spawnSync('chattr', ['-R', '-i', this.#files.path])
    this.#files[Symbol.dispose]()
  }

  #fixed(): Variables {
    const { homes, limits, users } = this.#options
    return {
      ATTACK_DISK: numbersOf(this.#disk),
      ATTACK_HOME: homes.own.path,
      ATTACK_OTHER_HOME: homes.other.path,
      ATTACK_PROCESSES: String(limits.pids),
      ATTACK_MEMORY: String(limits.memoryBytes),
      ATTACK_VICTIM_USERS: users.join(','),
    }
  }

  #start(words: readonly string[], more: Variables = {}): Watcher {
    const { PATH = '' } = process.env
    const env = { PATH, ATTACK_HOST_SECRET: 'of the host', ...this.#fixed(), ...more }
    return spawn(attackProgram(), words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  }
}

/** A cgroup with Forkpoint in its name, to show what its path gives away. */
class JoinableCgroup implements AsyncDisposable {
  readonly #dir: string

  /** Next to Forkpoint's own: everything below those is isolated. */
  constructor(home: TestHome) {
    const [first = ''] = cgroupDirs(detectLayout(), home.key, 'weak')
    this.#dir = resolve(first, `../../../forkpoint-weak-${home.key}`)
    mkdirSync(this.#dir)
  }

  get variables(): Variables {
    return { ATTACK_CGROUP: join(this.#dir, 'cgroup.procs') }
  }

  /** Processes stay in it for a moment after they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const deadline = Date.now() + patiently.timeout
    while (spawnSync('rmdir', [this.#dir]).status !== 0) {
      if (Date.now() > deadline) throw new Error(`${this.#dir} still has processes`)
      await sleep(20)
    }
  }
}

function attachDisk(file: string): string {
  writeFileSync(file, 'of the host')
  truncateSync(file, 2 ** 20)
  const words = ['--find', '--show', file]
  return execFileSync('losetup', words, { encoding: 'utf8' }).trim()
}

function numbersOf(device: string): string {
  const words = ['-c', '%Hr:%Lr', device]
  return execFileSync('stat', words, { encoding: 'utf8' }).trim()
}

function ownNamespace(kind: string): string {
  return readlinkSync(`/proc/self/ns/${kind}`)
}

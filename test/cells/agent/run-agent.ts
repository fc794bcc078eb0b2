import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { openAgentSocket } from '../../../src/agent/wire/socket.ts'
import { whyNot } from '../../support/probe.ts'

const program =
  process.env.FORKPOINT_TEST_AGENT ?? join(import.meta.dirname, '../../../native/build/agent')

const jail = join(import.meta.dirname, 'jail.sh')
const namespaces = ['--pid', '--fork', '--mount', '--uts', '--ipc', '--net', '--kill-child']

/** Why the agent cannot run here; null if it can. */
export const whyNoAgent = !existsSync(program)
  ? `${program} is not built`
  : whyNot('unshare', ...namespaces, 'true')

/**
 * A real agent as PID 1 of a throw-away copy of this machine: it runs as root and does as it is
 * told, so it must never see the real files. Only its own directory is shared.
 */
export class TestAgent implements AsyncDisposable {
  readonly directory: string
  readonly socketPath: string
  readonly #process: ChildProcess
  readonly #connections: AgentConnection[] = []

  private constructor(directory: string, child: ChildProcess) {
    this.directory = directory
    this.socketPath = join(directory, 'run/agent.sock')
    this.#process = child
  }

  /** `other`: another build of the program, such as one with sanitizers; `through`: what runs it, such as qemu. */
  static async start(other?: string, through: readonly string[] = []): Promise<TestAgent> {
    const directory = mkdtempSync(join(tmpdir(), 'forkpoint-agent-'))
    for (const name of ['run', 'files', 'jail']) mkdirSync(join(directory, name))
    // Next to the shared files, because the program may be on a mount that the copy lacks.
    const copy = join(directory, 'agent')
    copyFileSync(other ?? program, copy)
    const socket = ['--socket', join(directory, 'run/agent.sock')]
    const child = spawn('unshare', [...namespaces, jail, directory, ...through, copy, ...socket], {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: '/',
    })
    const agent = new TestAgent(directory, child)
    await agent.#waitForSocket()
    return agent
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** A path for the test's own files, the same inside and outside. */
  path(name: string): string {
    return join(this.directory, 'files', name)
  }

  async connect(): Promise<AgentConnection> {
    const connection = await openConnection(await this.#openSocket())
    this.#connections.push(connection)
    return connection
  }

  /** The socket has its name a moment before the agent listens on it. */
  async #openSocket(): Promise<Socket> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await openAgentSocket(this.socketPath, null)
      } catch (error) {
        if (tries === 100 || !String(error).includes('ECONNREFUSED')) throw error
        await sleep(10)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()))
    if (this.isRunning) {
      const exited = new Promise((resolve) => this.#process.once('exit', resolve))
      this.#process.kill('SIGKILL')
      await exited
    }
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 20 })
  }

  async #waitForSocket(): Promise<void> {
    for (let waited = 0; waited < 10_000; waited += 10) {
      if (this.#process.exitCode !== null) break
      if (existsSync(this.socketPath)) return
      await sleep(10)
    }
    await this[Symbol.asyncDispose]()
    throw new Error('the agent did not start')
  }
}

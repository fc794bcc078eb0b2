import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { noteKill } from '../../support/evidence.ts'
import { foreignProject, installedPackage, programs } from '../../support/package/installed.ts'
import { TestHome } from '../../support/test-home.ts'

/** The command line of the installed package, as its users start it. */
export const cliCommand = [join(programs, 'forkpoint')]
/** What the launcher starts. */
export const cliProgram = join(installedPackage, 'dist/cli.cjs')
export const cliNode = [process.execPath, '--disable-warning=ExperimentalWarning', cliProgram]

export interface RunOptions {
  /** what is piped in; `idle`: a pipe that nobody writes to or closes; default: /dev/null */
  readonly stdin?: Buffer | 'idle'
  readonly env?: Readonly<Record<string, string>>
  /** instead of the command line itself, for a wrapper such as setpriv */
  readonly command?: readonly string[]
  readonly cwd?: string
}

export interface Ran {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly bytes: Buffer
}

/** A test's own home, and the real command line on it. */
export class CliHome implements AsyncDisposable {
  readonly home: TestHome
  readonly #children = new Set<ChildProcess>()

  constructor(settings: ConstructorParameters<typeof TestHome>[1] = {}) {
    this.home = new TestHome('cli', settings)
  }

  get env(): NodeJS.ProcessEnv {
    const { NO_COLOR: _, ...env } = process.env
    const PATH = `${programs}${delimiter}${env.PATH}`
    return { ...env, PATH, FORKPOINT_HOME: this.home.path, ...this.home.variables }
  }

  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    const [program = '', ...before] = options.command ?? cliCommand
    const child = spawn(program, [...before, ...args], {
      stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...this.env, ...options.env },
      cwd: options.cwd ?? foreignProject,
    })
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    // A command may end without reading what is piped to it.
    child.stdin?.on('error', () => {})
    if (Buffer.isBuffer(options.stdin)) child.stdin?.end(options.stdin)
    return child
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const ran = await finished(this.start(args, options))
    noteKill(options.env?.FORKPOINT_KILL_AT, ran.signal)
    return ran
  }

  /** Runs it with `--json`; whatever the outcome, stdout must be one document. */
  async json(...args: string[]) {
    const ran = await this.run(['--json', ...args])
    return { ...ran, document: JSON.parse(ran.stdout) }
  }

  /** Runs a command that must succeed, and returns its output. */
  async must(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args)
    if (exitCode !== 0) throw new Error(`forkpoint ${args.join(' ')} failed: ${stderr}`)
    return stdout
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.home[Symbol.asyncDispose]()
  }
}

export async function finished(child: ChildProcess): Promise<Ran> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  const [exitCode, signal] = await once(child, 'close')
  const bytes = Buffer.concat(stdout)
  return {
    exitCode,
    signal,
    bytes,
    stdout: bytes.toString(),
    stderr: Buffer.concat(stderr).toString(),
  }
}

/** Resolves when the stream has matched; others may read it, too. */
export async function untilShown(stream: Readable | null, wanted: RegExp): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let text = ''
  stream?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (wanted.test(text)) resolve()
  })
  stream?.once('close', () => reject(new Error(`it ended after printing ${JSON.stringify(text)}`)))
  await promise
}

/** Resolves to the first line that the program prints. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    const end = text.indexOf('\n')
    if (end !== -1) return text.slice(0, end)
  }
  throw new Error(`it ended after printing ${JSON.stringify(text)}`)
}

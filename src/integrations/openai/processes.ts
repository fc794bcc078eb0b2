import { UserError } from '@openai/agents'
import type { Environment } from '../../api/handles/environment.ts'

export interface Starting {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly shell: string
  readonly login: boolean
  readonly tty: boolean
  readonly user?: string | undefined
}

export interface Printed {
  readonly stdout: string
  readonly stderr: string
  readonly output: string
  /** null while it runs */
  readonly exitCode: number | null
  readonly running: boolean
}

/** What is kept of what nobody has asked for yet. */
const mostKeptBytes = 1024 ** 2
const mostRunning = 64
/** Of something that a signal ended, as a shell counts SIGKILL. */
const killedExitCode = 137

type StreamName = 'stdout' | 'stderr'

/** A program inside that was started, and what it printed since somebody last asked. */
interface Running {
  readonly chunks: { readonly from: StreamName; readonly bytes: Buffer }[]
  exitCode: number | null
  readonly ended: Promise<void>
  write(text: string): Promise<void>
  /** Ends it, if it runs. */
  end(): Promise<void>
}

/** Programs by the number that a model knows them by. */
export class Processes {
  readonly #running = new Map<number, Running>()
  #last = 0

  /** Starts one. The number is null if it ended within `waitMs`. */
  async start(environment: Environment, what: Starting, waitMs: number) {
    if (this.#running.size >= mostRunning) {
      throw new UserError(`${mostRunning} processes run already; end one of them`)
    }
    this.#last += 1
    const id = this.#last
    const started = what.tty
      ? await startOnTerminal(environment, what, id)
      : await startOnPipes(environment, what)
    this.#running.set(id, started)
    return { id, ...(await this.#printed(id, started, waitMs)) }
  }

  /** Types, and returns what was printed since the last time. */
  async write(id: number, text: string, waitMs: number): Promise<Printed> {
    const found = this.#running.get(id)
    if (found === undefined) throw new UserError(`no process with the session id ${id}`)
    if (text !== '') await found.write(text)
    return await this.#printed(id, found, waitMs)
  }

  async endAll(): Promise<void> {
    const all = [...this.#running.values()]
    this.#running.clear()
    await Promise.allSettled(all.map((each) => each.end()))
  }

  async #printed(id: number, running: Running, waitMs: number): Promise<Printed> {
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, waitMs)
    await Promise.race([running.ended, timer.promise])
    clearTimeout(timeout)
    const chunks = running.chunks.splice(0)
    const { exitCode } = running
    if (exitCode !== null) this.#running.delete(id)
    const textOf = (names: readonly StreamName[]) =>
      Buffer.concat(
        chunks.filter(({ from }) => names.includes(from)).map(({ bytes }) => bytes),
      ).toString('utf8')
    return {
      stdout: textOf(['stdout']),
      stderr: textOf(['stderr']),
      output: textOf(['stdout', 'stderr']),
      exitCode,
      running: exitCode === null,
    }
  }
}

function wordsOf({ shell, login, command }: Starting): string[] {
  return [shell, login ? '-lc' : '-c', command]
}

async function startOnPipes(environment: Environment, what: Starting): Promise<Running> {
  const command = await environment.spawn(wordsOf(what), {
    mode: 'process',
    cwd: what.cwd,
    env: what.env,
    stdin: 'streamed',
    ...(what.user !== undefined && { user: what.user }),
  })
  const chunks: Running['chunks'] = []
  const keep = async (from: StreamName) => {
    for await (const bytes of command[from]) keepLast(chunks, { from, bytes })
  }
  const running: Running = {
    chunks,
    exitCode: null,
    ended: Promise.all([command.wait(), keep('stdout'), keep('stderr')]).then(
      ([{ exitCode }]) => {
        running.exitCode = exitCode ?? killedExitCode
      },
      // Its environment is gone, or was restored to a state in which it did not run.
      () => {
        running.exitCode = killedExitCode
      },
    ),
    write: (text) => command.writeStdin(text),
    end: () => command.signal('SIGKILL'),
  }
  return running
}

async function startOnTerminal(
  environment: Environment,
  what: Starting,
  id: number,
): Promise<Running> {
  const terminal = environment.terminal(`openai-${process.pid}-${id}`)
  const viewer = await terminal.attach({
    argv: wordsOf(what),
    cwd: what.cwd,
    env: { ...what.env },
    ...(what.user !== undefined && { user: what.user }),
  })
  const chunks: Running['chunks'] = []
  const keep = async () => {
    for await (const bytes of viewer.data()) keepLast(chunks, { from: 'stdout', bytes })
  }
  const running: Running = {
    chunks,
    exitCode: null,
    ended: Promise.all([viewer.exit, keep()]).then(
      ([{ exitCode }]) => {
        running.exitCode = exitCode ?? killedExitCode
      },
      () => {
        running.exitCode = killedExitCode
      },
    ),
    write: (text) => viewer.write(text),
    end: () => terminal.close(),
  }
  return running
}

/** Forgets the oldest if nobody asks. */
function keepLast(chunks: Running['chunks'], chunk: Running['chunks'][number]): void {
  chunks.push(chunk)
  let kept = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
  while (kept > mostKeptBytes && chunks.length > 1) kept -= chunks.shift()?.bytes.length ?? 0
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { BackendError } from '../model/errors.ts'
import { nativeProgram } from './native-program.ts'
import { type Ended, encodeRequest, type Request, takeAnswers } from './spawner-wire.ts'

export interface RunOptions {
  readonly input?: string | Buffer
  /** kills the program */
  readonly signal?: AbortSignal | undefined
}

/** A program that has said a line and now waits. It must be told something, or it waits as long as we live. */
export interface Talk {
  /** the line */
  readonly said: string
  /** Gives it this input, and nothing after it; resolves when it has ended. */
  tell(input: string): Promise<Ended>
}

/** The process behind a spawner. */
interface Helper {
  readonly child: ChildProcessWithoutNullStreams
  /** those who wait for an answer, by id; a talk has two */
  readonly waiting: Map<number, PromiseWithResolvers<Ended>[]>
}

/**
 * A helper process that starts processes for this one and keeps workers ready. When Node starts a process
 * itself, it copies its memory map and stalls for milliseconds. The helper starts on first use. If it dies,
 * everything it ran fails, and the next use starts another. Once disposed of, it ends as soon as it is idle.
 */
export class Spawner implements Disposable {
  #helper: Helper | undefined
  #workers: readonly string[] | undefined
  #isDisposed = false
  #lastId = 0

  /** Runs a program to its end. */
  async run(words: readonly string[], { input = '', signal }: RunOptions = {}): Promise<Ended> {
    signal?.throwIfAborted()
    const { ended, kill } = this.#ask('run', words, Buffer.from(input))
    signal?.addEventListener('abort', kill)
    try {
      return await ended
    } finally {
      signal?.removeEventListener('abort', kill)
    }
  }

  /** Has a worker do a job; resolves with its answer. */
  async job(words: readonly string[], request: Uint8Array): Promise<Ended> {
    return await this.#ask('job', words, request).ended
  }

  /** Starts a program that says one line before it waits for its input. */
  async talk(words: readonly string[]): Promise<Talk> {
    const end = Promise.withResolvers<Ended>()
    // Nobody may be listening when the helper dies; whoever is, hears it from the first answer or from `tell`.
    end.promise.catch(() => {})
    const { id, helper, ended } = this.#ask('talk', words, Buffer.alloc(0), [end])
    const { stdout } = await ended
    return {
      said: stdout.trimEnd(),
      tell: (input) => {
        send(helper, { kind: 'tell', id, input: Buffer.from(input) })
        return end.promise
      },
    }
  }

  /** Keeps `count` workers ready, started with these words from now on. */
  prepare(words: readonly string[], count: number): void {
    this.#workers = words
    // The owner has closed, so nothing more is prepared.
    if (this.#isDisposed) return
    send(this.#started(), { kind: 'prepare', id: count, words })
  }

  /** Ends the waiting workers. */
  dismiss(): void {
    if (this.#helper) send(this.#helper, { kind: 'dismiss', id: 0 })
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    if (this.#helper?.waiting.size === 0) this.#end(this.#helper)
  }

  #ask(
    kind: 'run' | 'job' | 'talk',
    words: readonly string[],
    input: Uint8Array,
    later: PromiseWithResolvers<Ended>[] = [],
  ) {
    this.#lastId = (this.#lastId % 0xffffffff) + 1
    const id = this.#lastId
    const request = encodeRequest({ kind, id, words, input })
    const helper = this.#started()
    const answer = Promise.withResolvers<Ended>()
    helper.waiting.set(id, [answer, ...later])
    if (helper.waiting.size === 1) hold(helper.child, 'ref')
    helper.child.stdin.write(request)
    const kill = () => send(helper, { kind: 'kill', id })
    return { id, helper, ended: answer.promise, kill }
  }

  #started(): Helper {
    if (this.#helper) return this.#helper
    const helper = startHelper({
      idle: () => {
        hold(helper.child, 'unref')
        if (this.#isDisposed) this.#end(helper)
      },
      over: () => this.#forget(helper),
    })
    this.#helper = helper
    // A replacement must learn how to start its workers.
    if (this.#workers) send(helper, { kind: 'prepare', id: 0, words: this.#workers })
    return helper
  }

  #end(helper: Helper): void {
    this.#forget(helper)
    helper.child.stdin.end()
  }

  #forget(helper: Helper): void {
    if (this.#helper === helper) this.#helper = undefined
  }
}

function send({ child }: Helper, request: Request): void {
  child.stdin.write(encodeRequest(request))
}

/** `idle`: the last answer has arrived; `over`: the helper has ended, and everything waiting has failed. */
interface Listener {
  idle(): void
  over(): void
}

function startHelper({ idle, over }: Listener): Helper {
  const child = spawn(nativeProgram('cell'), ['keeper'], { stdio: 'pipe' })
  const waiting: Helper['waiting'] = new Map()
  let received: Buffer = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    received = takeAnswers(received, (id, ended) => {
      const [next, ...later] = waiting.get(id) ?? []
      if (later.length > 0) waiting.set(id, later)
      else waiting.delete(id)
      next?.resolve(ended)
    })
    if (waiting.size === 0) idle()
  })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-1000)
  })
  const fail = (why: string) => {
    over()
    const error = helperEnded(words.trim() || why)
    for (const { reject } of [...waiting.values()].flat()) reject(error)
    waiting.clear()
  }
  child.once('close', (code, signal) => fail(signal ? `killed by ${signal}` : `exit code ${code}`))
  child.once('error', (error) => fail(error.message))
  // Nothing is lost: a helper that no longer reads has ended, and everything waiting fails with its stderr.
  child.stdin.on('error', () => {})
  hold(child, 'unref')
  return { child, waiting }
}

function helperEnded(why: string): BackendError {
  return new BackendError(`the helper that starts processes ended: ${why}`, {
    remedy: 'try again; if it is killed again, check `dmesg` for a lack of memory',
  })
}

/** An idle helper must not keep this process alive. */
function hold(child: ChildProcessWithoutNullStreams, how: 'ref' | 'unref'): void {
  child[how]()
  for (const stream of child.stdio) if (stream instanceof Socket) stream[how]()
}

import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import { ConnectionLostError } from '../../../agent/failures.ts'
import type { Command } from '../../../api/handles/command.ts'
import { ConnectionError, ResourceError } from '../../../model/errors.ts'

/** One event of a session, as the clients get it. It comes from inside, so nobody may trust it. */
export type KernelEvent = Readonly<Record<string, unknown>> & { readonly type: string }

export interface KernelRequest {
  readonly code: string
  readonly envs?: Readonly<Record<string, string>> | undefined
}

/** Whoever takes events slowly slows down the session. */
export type Listener = (event: KernelEvent) => Promise<void>

interface Running {
  readonly listener: Listener
  readonly ended: PromiseWithResolvers<void>
}

const line = z.looseObject({ id: z.nullable(z.string()), type: z.string() })

/** A line that never ends must not fill the memory of the daemon. */
const longestLine = 64 * 1024 ** 2

const mostTries = 5

/** A session that this daemon talks to, over the stdin and stdout of its command. */
export class KernelSession {
  readonly #command: Command
  readonly #running = new Map<string, Running>()
  /** why it is over; null while it is not */
  #failure: Error | null = null
  /** one request at a time, as a session runs them */
  #last: Promise<void> = Promise.resolve()

  constructor(command: Command) {
    this.#command = command
    command.stderr.discard()
    void this.#read()
  }

  get isOver(): boolean {
    return this.#failure !== null
  }

  get isBusy(): boolean {
    return this.#running.size > 0
  }

  /** Runs code, and resolves when all of its events have come. Aborting interrupts it. */
  async run(request: KernelRequest, listener: Listener, signal: AbortSignal): Promise<void> {
    const before = this.#last
    const own = Promise.withResolvers<void>()
    this.#last = own.promise
    await before
    try {
      signal.throwIfAborted()
      await this.#runNow(request, listener, signal)
    } finally {
      own.resolve()
    }
  }

  /** Leaves it running. */
  leave(): void {
    this.#end(new ConnectionError('the session is not followed any more', { happened: 'maybe' }))
    this.#command.detach()
  }

  async #runNow(request: KernelRequest, listener: Listener, signal: AbortSignal): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    const id = randomBytes(12).toString('hex')
    const ended = Promise.withResolvers<void>()
    ended.promise.catch(() => {})
    this.#running.set(id, { listener, ended })
    const interrupt = () => {
      this.#command.signal('SIGINT').catch(() => {})
    }
    signal.addEventListener('abort', interrupt, { once: true })
    try {
      await this.#send(JSON.stringify({ id, ...request }))
      await ended.promise
    } finally {
      signal.removeEventListener('abort', interrupt)
      this.#running.delete(id)
    }
  }

  /** A snapshot may cut the line short, so it is sent again; the session runs no request twice. */
  async #send(line: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#command.writeStdin(`\n${line}\n`)
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || tries === mostTries) throw error
      }
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const text of linesOf(this.#command.stdout)) await this.#dispatch(text)
      this.#end(died())
    } catch (error) {
      this.#end(error as Error)
    }
  }

  async #dispatch(text: string): Promise<void> {
    const event = eventOf(text)
    // Requests of others, of before a restart of the daemon, or of the sandbox that this one was forked from.
    const running = event?.id == null ? undefined : this.#running.get(event.id)
    if (event === null || running === undefined) return
    const { id: _id, ...shown } = event
    if (event.type === 'end') running.ended.resolve()
    else await running.listener(shown)
  }

  #end(failure: Error): void {
    this.#failure ??= failure
    for (const { ended } of this.#running.values()) ended.reject(failure)
  }
}

/** What has only begun is not copied again with every chunk. */
async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let begun: Buffer[] = []
  let bytes = 0
  for await (const chunk of output) {
    let begin = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
      yield Buffer.concat([...begun, chunk.subarray(begin, end)]).toString('utf8')
      begun = []
      bytes = 0
      begin = end + 1
    }
    begun.push(chunk.subarray(begin))
    bytes += chunk.length - begin
    if (bytes > longestLine) throw tooLong()
  }
}

function eventOf(text: string): z.infer<typeof line> | null {
  try {
    return line.parse(JSON.parse(text))
  } catch {
    // Code inside has written to what is not its own; whoever waits gets the rest.
    return null
  }
}

function died(): ResourceError {
  return new ResourceError('the session has ended', { remedy: 'run the code again in a new one' })
}

function tooLong(): ResourceError {
  return new ResourceError(`an event of the session exceeds ${longestLine} bytes`, {
    remedy: 'write large results to a file, and read that',
  })
}

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, pipeline, type Readable } from 'node:stream'
import { contract, type OperationName, type Output } from '../../src/api/contract/contract.ts'
import { event } from '../../src/api/contract/data/store.ts'
import type { CallOptions, Control } from '../../src/api/control.ts'
import { engineControl } from '../../src/engine/control/engine-control.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { appliesIn } from '../../src/engine/recovery/applies.ts'
import { Forkpoint, type OpenOptions } from '../../src/index.ts'
import { errorFromJson, toJson } from '../../src/model/errors.ts'

/** Whether this run's tests go through the loop-back instead of the engine itself. */
export const isLoopBack = process.env.FORKPOINT_TEST_CONTROL === 'loop-back'

/** `Forkpoint.open`, with everything sent as if the engine were far away. */
export async function openLoopBack(
  settings: NonNullable<OpenOptions['settings']>,
): Promise<Forkpoint> {
  const loaded = Forkpoint.settings({ settings })
  const engine = await openEngine(loaded.settings, { spares: 'prepared' })
  const stateDir = appliesIn(engine.settings.home)
  return new Forkpoint(loopBack(engineControl(engine)), { stateDir })
}

/**
 * A `Control` that lets nothing but data cross: every input, answer, event and error becomes JSON and
 * is parsed again, and every stream goes through a pair of sockets.
 */
export function loopBack(far: Control): Control {
  return {
    call: (name, input, options) => throughJson(far, name, input, options),
    stream: async (name, input, options) =>
      await bytesThroughSockets(
        await failing(() => far.stream(name, wired(input) as never, options)),
      ),
    events: (options) => eventsThroughJson(far.events(options)),
    connect: async (id, options) =>
      await throughSockets(await failing(() => far.connect(id, options))),
    [Symbol.asyncDispose]: () => far[Symbol.asyncDispose](),
  }
}

async function throughJson<N extends OperationName>(
  far: Control,
  name: N,
  input: unknown,
  options: CallOptions = {},
): Promise<Output<N>> {
  const answer = await failing(() => far.call(name, wired(input) as never, options))
  const parsed = contract[name].output.safeParse(wired(answer))
  if (!parsed.success)
    throw new Error(`the answer of ${name} is not what its schema says: ${parsed.error.message}`)
  return parsed.data as Output<N>
}

/** What is left of a value after the wire. */
function wired(value: unknown): unknown {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** A failure crosses as JSON, too; only the caller's own abort does not come from the far side. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error
    throw farFailure(error)
  }
}

function farFailure(error: unknown): Error {
  return errorFromJson(wired(toJson(error)) as ReturnType<typeof toJson>)
}

async function* eventsThroughJson(events: ReturnType<Control['events']>) {
  for await (const each of events) yield event.parse(wired(each)) as typeof each
}

/** The near end of a pair of sockets whose far end is joined to `stream`. */
async function throughSockets(stream: Duplex): Promise<Duplex> {
  const { near, far } = await socketPair()
  // An end in one direction, or a failure, reaches the other side as it does over a network.
  pipeline(stream, far, () => far.destroy())
  pipeline(far, stream, () => stream.destroy())
  return near
}

async function bytesThroughSockets(stream: Readable): Promise<Readable> {
  const { near, far } = await socketPair()
  // The reason for a failure follows the bytes, as a trailer.
  pipeline(stream, far, (error) => {
    if (error) near.destroy(farFailure(error))
  })
  return near
}

async function socketPair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const dir = mkdtempSync(join(tmpdir(), 'fp-loop-back-'))
  const server = createServer({ allowHalfOpen: true })
  try {
    server.listen(join(dir, 'socket'))
    await once(server, 'listening')
    const near = createConnection({ path: join(dir, 'socket') })
    const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')])
    return { near, far }
  } finally {
    server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

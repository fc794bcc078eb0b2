import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, Forkpoint } from '../../index.ts'
import { timed } from '../recorder.ts'
import { newTally, type Tally } from './tally.ts'

export interface Load {
  readonly clients: number
  readonly seconds: number
}

/** A client thinks for this long between two commands. */
const thinkMs = 100
/** Of ten clients, one branches its own environment and one follows long output; the others run commands. */
const perTen = ['branch', 'follow', ...Array<'run'>(8).fill('run')] as const
/** Clients that run commands share environments, this many each. */
const clientsEach = 20

const linesEach = 40
const counting = `for i in $(seq 1 ${linesEach}); do echo line $i; sleep 0.05; done`
const counted = Array.from({ length: linesEach }, (_, index) => `line ${index + 1}\n`).join('')

interface Client {
  readonly fp: Forkpoint
  readonly shared: readonly Environment[]
  readonly index: number
  readonly tally: Tally
}

export interface PreparedLoad {
  readonly tally: Tally
  /** Resolves when every client has finished what it began. */
  apply(): Promise<void>
}

/** What a client does again and again. */
type Turn = () => Promise<void>

/** Makes the environments of a load and connects its clients; `open` is called for each. */
export async function prepareLoad(
  open: () => Promise<Forkpoint>,
  { clients, seconds }: Load,
): Promise<PreparedLoad> {
  const fp = await open()
  const shared: Environment[] = []
  for (let i = 0; i < clients; i += clientsEach) shared.push(await fp.create())
  const tally = newTally()
  tally.environments.push(...shared.map(({ id }) => id))
  const connected = await Promise.all(Array.from({ length: clients }, open))
  const turns = await Promise.all(
    connected.map((each, index) => turnOf({ fp: each, shared, index, tally })),
  )
  return {
    tally,
    apply: async () => {
      const end = performance.now() + seconds * 1000
      await Promise.all(turns.map((turn) => repeat(turn, tally, end)))
    },
  }
}

async function repeat(turn: Turn, { errors }: Tally, end: number): Promise<void> {
  while (performance.now() < end) {
    try {
      await turn()
    } catch (error) {
      errors.push(`${turn.name}: ${(error as Error).message}`)
    }
    await sleep(thinkMs)
  }
}

async function turnOf(client: Client): Promise<Turn> {
  const role = perTen[client.index % perTen.length]
  if (role === 'branch') return branching(await client.fp.create(), client.tally)
  const env = await sharedBy(client)
  return role === 'follow' ? following(env, client.tally) : running(env, client.tally)
}

/** The environment that a client shares, as its own connection sees it. */
async function sharedBy({ fp, shared, index }: Client): Promise<Environment> {
  const mine = shared[Math.floor(index / clientsEach)]
  if (mine === undefined) throw new Error(`no environment for client ${index}`)
  return await fp.get(mine.id)
}

function running(env: Environment, tally: Tally): Turn {
  return async function run() {
    const { ms, result } = await timed(() => env.exec(['true'], { mode: 'process' }))
    if (result.exitCode !== 0) throw new Error(`true ended with ${result.exitCode}`)
    tally.execMs.push(ms)
  }
}

function following(env: Environment, tally: Tally): Turn {
  return async function follow() {
    const chunks: Buffer[] = []
    const onStdout = (chunk: Buffer) => void chunks.push(chunk)
    await env.exec(['bash', '-c', counting], { mode: 'process', onStdout })
    const seen = Buffer.concat(chunks).toString()
    if (seen !== counted) throw new Error(`a stream differs: ${seen.length} of ${counted.length} B`)
    tally.whole += 1
  }
}

function branching(own: Environment, tally: Tally): Turn {
  tally.environments.push(own.id)
  return async function branch() {
    const taken = await own.snapshot()
    tally.snapshots.push(taken.id)
    const [fork] = await taken.fork(1)
    if (fork === undefined) throw new Error('a fork is missing')
    const { exitCode } = await fork.exec('true')
    if (exitCode !== 0) throw new Error(`true in a fork ended with ${exitCode}`)
    await fork.remove({ force: true })
    await own.restore(taken)
    tally.branched += 1
  }
}

// A hostile agent against the real client of the host, in a separate process: whatever frames it
// sends, that process does not crash, hang, grow or write outside its directory.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { FakeAgent, type FakeSide } from '../unit/agent/fake-agent.ts'
import { answer, ending, mutated } from './hostile-frames.ts'
import { fuzzFirstRound, fuzzMs, fuzzSeed, howToRepeat, type Random, randomOf } from './random.ts'

const program = fileURLToPath(new URL('programs/attacked-host.ts', import.meta.url))
const runMs = fuzzMs(2 / 3)
/** A round has its own limits; if it takes longer than this, one of them does not work. */
const mostMsPerRound = 60_000
/** How much the process may grow after its first rounds; one round may hold some windows and a screen. */
const mostGrowthBytes = 300 * 1024 * 1024

interface Line {
  readonly round: number
  readonly outcome: string
  readonly rss: number
}

/** Writes in pieces, as a socket may bring them. */
async function dribble(agent: FakeSide, random: Random, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !agent.socket.destroyed; ) {
    const count = random.chance(0.8) ? bytes.length : 1 + random.int(40)
    agent.socket.write(bytes.subarray(at, at + count))
    at += count
    if (random.chance(0.1)) await sleep(1)
  }
}

function misbehave(agent: FakeSide, random: Random): void {
  if (random.chance(0.97)) agent.hello()
  else agent.socket.write(mutated(random, Buffer.alloc(40, random.int(256))))
  agent.onOpen(async (stream) => {
    const frames = [...answer(random, stream), ...ending(random, stream)]
    for (const frame of frames) await dribble(agent, random, frame)
    if (random.chance(0.05)) agent.socket.destroy()
  })
}

class Host implements Disposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #said = ''

  constructor(socket: string, directory: string) {
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--expose-gc', program, socket, directory],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    )
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString()
    })
    const { stdout } = this.#child
    if (stdout === null) throw new Error('no stdout')
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  }

  async round(number: number): Promise<Line> {
    this.#child.stdin?.write(`${number}\n`)
    const late = sleep(mostMsPerRound, null, { ref: false })
    const next = await Promise.race([this.#lines.next(), late])
    if (next === null) throw new Error(`it hangs; ${howToRepeat(number)}`)
    if (next.done) throw new Error(`it ended: ${this.#said}; ${howToRepeat(number)}`)
    return JSON.parse(next.value)
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}

test('an agent that sends anything', { timeout: runMs + 2 * mostMsPerRound }, async () => {
  console.log(`frames of a hostile agent: ${howToRepeat(fuzzFirstRound)}`)
  using files = new TemporaryDirectory()
  const watched = files.file('watched')
  for (const name of ['watched', 'watched/up', 'watched/tree', 'outside'])
    mkdirSync(files.file(name))
  writeFileSync(files.file('outside/secret'), 'host')
  writeFileSync(join(watched, 'up/file'), 'up')
  // As an earlier copy may have brought them.
  for (const name of ['link', 'outside', 'a']) {
    symlinkSync(files.file('outside'), join(watched, 'tree', name))
  }
  let current = fuzzFirstRound
  await using agent = await FakeAgent.start((side) => misbehave(side, randomOf(current)))
  using host = new Host(agent.path, watched)
  const outcomes = new Map<string, number>()
  const deadline = performance.now() + runMs
  let baseline = 0
  for (; performance.now() < deadline; current += 1) {
    const { outcome, rss } = await host.round(current)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (current - fuzzFirstRound === 100) baseline = rss
    const grown = baseline === 0 ? 0 : rss - baseline
    expect(grown, howToRepeat(current)).toBeLessThan(mostGrowthBytes)
  }
  console.log(`rounds: ${current - fuzzFirstRound}`, Object.fromEntries(outcomes))
  expect(readdirSync(files.path).sort()).toEqual(['outside', 'watched'])
  expect(readdirSync(files.file('outside'))).toEqual(['secret'])
  expect(readFileSync(files.file('outside/secret'), 'utf8'), `seed ${fuzzSeed}`).toBe('host')
})

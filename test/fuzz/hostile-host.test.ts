// Frames of any kind against the real agent, built with sanitizers: it ends connections, never itself.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readAgentInfo } from '../../src/agent/environment.ts'
import { encodeFrame } from '../../src/agent/wire/frames.ts'
import { TestAgent, whyNoAgent } from '../cells/agent/run-agent.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { mutated } from './hostile-frames.ts'
import { hello, hostFrame } from './hostile-requests.ts'
import { fuzzFirstRound, fuzzMs, howToRepeat, type Random, randomOf } from './random.ts'

const native = join(import.meta.dirname, '../../native')
const runMs = fuzzMs(1 / 3)
const framesPerRound = 60

/** Why there is no such build; null if there is one at `path`. */
function buildSanitized(path: string): string | null {
  const sources = [...globSync('agent/**/*.c', { cwd: native }), 'shared/error.c']
  const includes = ['.', 'agent', ...globSync('agent/*/', { cwd: native })].map((dir) => `-I${dir}`)
  const flags = ['-std=gnu17', '-g', '-O1', ...includes, '-fno-sanitize-recover=all']
  const sanitizers = '-fsanitize=address,undefined'
  const built = spawnSync('cc', [...flags, sanitizers, ...sources, '-o', path], {
    cwd: native,
    encoding: 'utf8',
  })
  return built.status === 0 ? null : `no sanitizers: ${built.stderr.split('\n')[0]}`
}

async function send(socket: Socket, random: Random, directory: string): Promise<void> {
  socket.write(hello())
  for (let i = 0; i < framesPerRound && !socket.destroyed; i += 1) {
    const frame = encodeFrame(hostFrame(random, directory))
    socket.write(random.chance(0.02) ? mutated(random, frame) : frame)
    if (random.chance(0.2)) await sleep(1)
  }
  // Some read the answers, and some hang up before they arrive.
  if (random.chance(0.5)) await sleep(5)
  socket.destroy()
}

test('a host that sends anything', { timeout: runMs + 120_000 }, async (ctx) => {
  if (whyNoAgent !== null) ctx.skip(whyNoAgent)
  console.log(`frames of a hostile host: ${howToRepeat(fuzzFirstRound)}`)
  using files = new TemporaryDirectory()
  const program = files.file('agent')
  const why = buildSanitized(program)
  if (why !== null) ctx.skip(why)
  // Nothing of ours may trace PID 1, which finding leaks needs.
  process.env.ASAN_OPTIONS = 'detect_leaks=0:abort_on_error=1'
  await using agent = await TestAgent.start(program)
  mkdirSync(agent.path('tree'))
  const deadline = performance.now() + runMs
  let round = fuzzFirstRound
  for (; performance.now() < deadline; round += 1) {
    const socket = createConnection(agent.socketPath)
    socket.on('error', () => {})
    socket.resume()
    await send(socket, randomOf(round), agent.path('tree'))
    expect(agent.isRunning, howToRepeat(round)).toBe(true)
  }
  const connection = await agent.connect()
  const { rssBytes, openFds } = await readAgentInfo(connection)
  console.log(`rounds: ${round - fuzzFirstRound}, rss ${rssBytes}, open ${openFds}`)
})

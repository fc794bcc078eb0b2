// How long a fork takes through the wire of E2B, next to the same fork through our own client: npm run bench:e2b
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sandbox } from 'e2b'
import { Forkpoint } from '../src/index.ts'

const [count = '20'] = process.argv.slice(2)
const home = mkdtempSync(join(tmpdir(), 'forkpoint-bench-e2b-'))
const socket = join(home, 'socket')
const { daemon, listen, e2b } = await startDaemon()
const local = await Forkpoint.connect({ socket })
const { token: key } = await local.tokens.create({ form: 'e2b' })
const client = await Forkpoint.connect(listen, { token: key })
try {
  await compare()
} finally {
  for (const environment of await local.list()) await environment.remove({ force: true })
  await local.prune()
  await client.close()
  await local.close()
  daemon.kill()
  await once(daemon, 'exit')
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
  for (const path of [join(home, 'files'), join(home, 'data')]) {
    if (mounts.includes(` ${path} `)) execFileSync('umount', [path])
  }
  rmSync(home, { recursive: true, force: true })
}

/** In turns, so that whatever else the machine does meets both alike. */
async function compare() {
  const sandbox = await Sandbox.create({ apiKey: key, apiUrl: e2b, sandboxUrl: e2b })
  await sandbox.commands.run('sleep 10000', { background: true, timeoutMs: 0 })
  const environment = await client.get(sandbox.sandboxId)
  const times = { ours: [], e2b: [] }
  const ways = {
    ours: async () => {
      const [fork] = await environment.fork(1)
      return () => fork.remove()
    },
    e2b: async () => {
      const [fork] = await sandbox.fork()
      return () => fork.kill()
    },
  }
  for (let round = -2; round < Number(count); round += 1) {
    const order = round % 2 === 0 ? ['ours', 'e2b'] : ['e2b', 'ours']
    for (const way of order) {
      const began = performance.now()
      const remove = await ways[way]()
      // The first ones warm both up.
      if (round >= 0) times[way].push(performance.now() - began)
      await remove()
    }
  }
  const [ours, theirs] = [median(times.ours), median(times.e2b)]
  const shown = (ms) => `${ms.toFixed(1)} ms`
  process.stdout.write(`fork through our own client: ${shown(ours)} (median of ${count})\n`)
  process.stdout.write(`fork through the wire of E2B: ${shown(theirs)} (median of ${count})\n`)
  // Of pairs, because what else the machine does changes more within a minute than within a second.
  const ratio = median(times.e2b.map((ms, round) => ms / times.ours[round]))
  process.stdout.write(`ratio: ${ratio.toFixed(2)} (median of ${count} pairs)\n`)
}

function median(all) {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]
}

async function startDaemon() {
  const launcher = join(import.meta.dirname, '../forkpoint')
  const places = ['--socket', socket, '--listen', '127.0.0.1:0', '--e2b', '127.0.0.1:0']
  const child = spawn(launcher, ['serve', '--json', ...places], {
    env: { ...process.env, FORKPOINT_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of child.stdout) {
    said += chunk
    if (said.trimEnd().endsWith('}')) break
  }
  const [, listen, e2b] = JSON.parse(said).addresses
  return { daemon: child, listen, e2b }
}

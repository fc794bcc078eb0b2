import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { type Environment, Forkpoint } from '../index.ts'
import { formatDuration } from '../model/values/quantities.ts'
import { timed } from './recorder.ts'
import { median, percentile } from './statistics.ts'

/** How fast environments answer, measured on this machine: `npm run bench:exec [-- --json]`. */

interface Row {
  readonly what: string
  readonly samplesMs: readonly number[]
  /** the promise; null if it is only reported */
  readonly promisedMs: number | null
}

const run = promisify(execFile)
const launcher = join(import.meta.dirname, '../../forkpoint')
const many = 50

async function samples(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const all: number[] = []
  for (let i = 0; i < count; i += 1) all.push((await timed(work)).ms)
  return all
}

async function roundTrips(env: Environment): Promise<Row[]> {
  await samples(20, () => env.exec('true'))
  return [
    {
      what: 'exec in the shell, API',
      samplesMs: await samples(300, () => env.exec('true')),
      promisedMs: 5,
    },
    {
      what: 'exec of a process, API',
      samplesMs: await samples(300, () => env.exec(['true'], { mode: 'process' })),
      promisedMs: 5,
    },
  ]
}

async function commandLine(env: Environment): Promise<Row> {
  const call = () => run(launcher, ['exec', env.id, '--', 'true'])
  await samples(3, call)
  return {
    what: './forkpoint exec ENV -- true',
    samplesMs: await samples(20, call),
    promisedMs: 150,
  }
}

async function creations(fp: Forkpoint): Promise<Row> {
  const once = async () => {
    const began = performance.now()
    const env = await fp.create({ from: 'host' })
    await env.exec('true')
    const took = performance.now() - began
    await env.remove()
    return took
  }
  await once()
  const samplesMs: number[] = []
  for (let i = 0; i < 20; i += 1) samplesMs.push(await once())
  return { what: 'create --from host until a command answers', samplesMs, promisedMs: 150 }
}

async function crowd(fp: Forkpoint): Promise<Row> {
  const envs: Environment[] = []
  try {
    for (let i = 0; i < many; i += 1) envs.push(await fp.create({ from: 'host' }))
    const samplesMs = await Promise.all(
      envs.map(async (env) => {
        const began = performance.now()
        const { stdout } = await env.exec('cat /run/forkpoint/identity.json')
        if (!stdout.includes(env.id))
          throw new Error(`${env.id} answered with another identity: ${stdout}`)
        return performance.now() - began
      }),
    )
    return { what: `${many} environments alive, each answering`, samplesMs, promisedMs: null }
  } finally {
    await Promise.all(envs.map((env) => env.remove()))
  }
}

function show(rows: readonly Row[]): void {
  for (const { what, samplesMs, promisedMs } of rows) {
    const [p50, p95] = [median(samplesMs), percentile(samplesMs, 0.95)]
    const conclusion =
      promisedMs === null ? '' : p50 < promisedMs ? `under ${promisedMs} ms` : 'MISSED'
    console.log(
      `${what.padEnd(46)} p50 ${formatDuration(p50).padStart(8)}   p95 ${formatDuration(p95).padStart(8)}` +
        `   n ${String(samplesMs.length).padStart(3)}   ${conclusion}`,
    )
  }
}

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
await using fp = await Forkpoint.open()
// Kept for the whole run, so that the shared volume is not made again for every sample.
const env = await fp.create({ from: 'host' })
try {
  const rows = [
    ...(await roundTrips(env)),
    await commandLine(env),
    await creations(fp),
    await crowd(fp),
  ]
  if (values.json) console.log(JSON.stringify(rows, null, 2))
  else show(rows)
} finally {
  await env.remove()
}

// What the tests' child processes do: node lifecycle.ts <verb> [argument...], on FORKPOINT_HOME.
import { flushCompileCache } from 'node:module'
import type { Forkpoint, NetMode } from '../../../src/index.ts'

// Most of these processes are killed, and would leave nothing in the cache.
flushCompileCache()

// What is built starts in a third of the time, and hundreds of these processes are started.
const built = new URL('../../../dist/index.js', import.meta.url).href
const api: typeof import('../../../src/index.ts') = await import(built)

type Verb = (fp: Forkpoint, ...args: string[]) => Promise<void>

const verbs: Record<string, Verb> = {
  create: async (fp, name = '', net = 'none') => {
    await fp.create({ name, net: net as NetMode, netAllow: ['192.0.2.0/24'] })
  },

  attach: async (fp, name = '', backend = '', target = '') => {
    await fp.attach({ name, backend, target })
  },

  remove: async (fp, name = '') => {
    await (await fp.get(name)).remove()
  },

  snapshot: async (fp, name = '') => {
    await (await fp.get(name)).snapshot()
  },

  'snapshot-changed': async (fp, name = '') => {
    const env = await fp.get(name)
    await env.exec('date +%N > /root/changed')
    await env.snapshot()
  },

  'snapshot-live': async (fp, name = '') => {
    await (await fp.get(name)).snapshot({ live: true })
  },

  'snapshot-files': async (fp, name = '') => {
    await (await fp.get(name)).snapshot({ mode: 'filesystem' })
  },

  release: async (fp, name = '') => {
    await (await fp.get(name)).pause({ release: true })
  },

  resume: async (fp, name = '') => {
    await (await fp.get(name)).resume()
  },

  restore: async (fp, name = '', snapshot = '') => {
    await (await fp.get(name)).restore(snapshot)
  },

  net: async (fp, reference = '', mode = '') => {
    await (await fp.get(reference)).setNet(mode === 'nat' ? 'nat' : 'none')
  },

  deny: async (fp, reference = '') => {
    await (await fp.get(reference)).setNet('nat', { denyOut: ['0.0.0.0/0'] })
  },

  promote: async (fp, from = '', into = '') => {
    await (await fp.get(into)).promote(await fp.get(from))
  },

  fork: async (fp, snapshot = '') => {
    await (await fp.snapshot(snapshot)).fork(2)
  },

  'prove-taken': async (fp, snapshot = '') => {
    await (await fp.snapshot(snapshot)).prove()
  },

  compact: async (fp, snapshot = '') => {
    await fp.compact(snapshot)
  },

  /** Takes a snapshot, waits for its spares, and restores it. */
  spares: async (fp, name = '') => {
    const env = await fp.get(name)
    const taken = await env.snapshot()
    await env.exec('X=later')
    await fp.sparesReady()
    await env.restore(taken)
  },

  /** Prepares what is likely after a snapshot, and stays until it is ended. */
  keep: async (fp, name = '') => {
    await (await fp.get(name)).snapshot({ name: 'kept' })
    await fp.sparesReady()
    process.stdout.write('ready\n')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  },

  /** Takes snapshots and makes forks of an environment, over and over; each has its memory. */
  branch: async (fp, name = '', times = '1') => {
    const env = await fp.get(name)
    for (let i = 0; i < Number(times); i += 1) {
      const [made] = await env.fork(1)
      const { stdout } = (await made?.exec('echo $X')) ?? { stdout: '' }
      if (stdout !== 'kept\n') throw new Error(`the fork said ${stdout}`)
      await made?.remove()
    }
  },

  /** Makes, uses and removes environments, over and over. */
  churn: async (fp, prefix = '', times = '1') => {
    for (let i = 0; i < Number(times); i += 1) {
      const env = await fp.create({ name: `${prefix}-${i}` })
      const { stdout } = await env.exec(`echo ${prefix} ${i}`)
      if (stdout !== `${prefix} ${i}\n`) throw new Error(`the shell said ${stdout}`)
      await env.remove()
    }
  },

  doctor: async () => {
    const { ok, checks } = await api.Forkpoint.doctor()
    if (!ok) throw new Error(JSON.stringify(checks.filter(({ status }) => status === 'fail')))
  },
}

const [, , verb = '', ...args] = process.argv
const run = verbs[verb]
if (run === undefined) throw new Error(`no verb ${verb}`)
await using fp = await api.Forkpoint.open()
await run(fp, ...args)

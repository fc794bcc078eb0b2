import type { FastifyInstance } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import type { Snapshot } from '../../../api/handles/snapshot.ts'
import { fields, type Given, options } from '../../../api/inputs/checked.ts'
import * as v from '../../../api/inputs/values.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { bodyOf, named } from '../bodies.ts'
import { findSandbox, findSnapshot } from '../find.ts'
import { type Visit, visitOf } from '../host.ts'
import { label } from '../labels.ts'
import { isActive, sandboxJson } from '../shapes/sandbox-json.ts'
import { snapshotJson, tagOf } from '../shapes/snapshot-json.ts'

const mebibyte = 1024 ** 2

const spawnInput = fields(
  { snapshot_tag: v.word },
  {
    n: v.whole(1, 1000),
    memory_limit_mib: v.whole(1),
    /** every sandbox has a namespace of its own, is warm, and can be branched while it runs */
    per_child_netns: v.truth,
    prewarm: v.truth,
    live_fork: v.truth,
    hugepages: v.truth,
  },
)

const branchInput = options({
  tag: v.word,
  mode: v.oneOf('full', 'diff', 'live'),
  wait: v.truth,
  diff: v.truth,
  live: v.truth,
  measure_diff: v.truth,
  parent_tag: v.word,
})

export function addSandboxRoutes(app: FastifyInstance): void {
  app.get(
    '/v1/sandboxes',
    { config: { operation: 'forkd.sandbox.list', scope: 'read' } },
    async (request) => {
      const visit = visitOf(request)
      const all = await visit.forkpoint.list()
      return await shown(
        visit,
        all.filter(({ lastInfo }) => isActive(lastInfo)),
      )
    },
  )
  app.post(
    '/v1/sandboxes',
    { config: { operation: 'forkd.sandbox.create', scope: 'branch' } },
    async (request, reply) => {
      const visit = visitOf(request)
      const input = bodyOf('sandbox', spawnInput, request)
      const from = await findSnapshot(visit.forkpoint, input.snapshot_tag)
      const made = await spawned(from, input.n ?? 1, input.memory_limit_mib)
      return await reply.code(201).send(await shown(visit, made))
    },
  )
  app.get(
    '/v1/sandboxes/:id',
    { config: { operation: 'forkd.sandbox.get', scope: 'read' } },
    async (request) => {
      const visit = visitOf(request)
      const [one] = await shown(visit, [await findSandbox(visit.forkpoint, named(request, 'id'))])
      return one
    },
  )
  app.delete(
    '/v1/sandboxes/:id',
    { config: { operation: 'forkd.sandbox.remove', scope: 'branch' } },
    async (request, reply) => {
      const found = await findSandbox(visitOf(request).forkpoint, named(request, 'id'))
      await found.remove({ force: true })
      return await reply.code(204).send()
    },
  )
  app.post(
    '/v1/sandboxes/:id/branch',
    { config: { operation: 'forkd.sandbox.branch', scope: 'branch' } },
    async (request, reply) => {
      const input = bodyOf('branch', branchInput, request)
      const sandbox = await findSandbox(visitOf(request).forkpoint, named(request, 'id'))
      const taken = await branched(sandbox, input)
      return await reply.code(201).send(snapshotJson(taken.lastInfo))
    },
  )
}

async function shown({ forkpoint }: Visit, all: readonly Environment[]) {
  const snapshots = (await forkpoint.snapshots()).map(({ lastInfo }) => lastInfo)
  return all.map(({ lastInfo }) => sandboxJson(lastInfo, snapshots))
}

/** All or none. A limit that they would not have is refused instead of ignored. */
export async function spawned(
  from: Snapshot,
  count: number,
  limitMib: number | undefined,
  names: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): Promise<readonly Environment[]> {
  const labels = { ...names.labels, [label.source]: tagOf(from.lastInfo) }
  const made = await from.fork(count, { atomic: true, ...names, labels })
  const has = made[0]?.lastInfo.limits.memoryBytes
  if (limitMib === undefined || (has !== undefined && has <= limitMib * mebibyte)) return made
  await Promise.all(made.map((environment) => environment.remove({ force: true })))
  const now = has === undefined ? 'none' : `${Math.floor(has / mebibyte)} MiB`
  throw new InvalidInputError(
    `sandboxes have the memory limit of their snapshot, which is ${now}, not ${limitMib} MiB`,
    { remedy: 'give memory_limit_mib to POST /v1/snapshots, or leave it out here' },
  )
}

/** What `mode` promises is true of every snapshot: only what was written is, and the source continues. */
async function branched(
  sandbox: Environment,
  { tag, mode, wait = true, diff = false, live = false, ...others }: Given<typeof branchInput>,
): Promise<Snapshot> {
  const isLive = live || mode === 'live'
  if (mode !== undefined && (diff || live)) throw unfit('mode', 'diff and live')
  if (diff && (live || others.measure_diff)) throw unfit('diff', 'live and measure_diff')
  if (!wait && !isLive) throw unfit('wait: false', 'every mode but live')
  return await sandbox.snapshot({
    name: tag ?? `branch-${sandbox.id}-${Date.now().toString(36)}`,
    ...(isLive && { live: true }),
  })
}

function unfit(one: string, other: string): InvalidInputError {
  return new InvalidInputError(`${one} does not go with ${other}`, { remedy: 'leave one out' })
}

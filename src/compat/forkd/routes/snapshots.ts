import type { FastifyInstance } from 'fastify'
import type { ForkpointHandle } from '../../../api/handles/forkpoint.ts'
import type { Snapshot } from '../../../api/handles/snapshot.ts'
import { checked, fields, type Given, options } from '../../../api/inputs/checked.ts'
import * as v from '../../../api/inputs/values.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { bodyOf, named } from '../bodies.ts'
import { findSnapshot } from '../find.ts'
import { visitOf } from '../host.ts'
import { label } from '../labels.ts'
import { snapshotDetail, snapshotJson } from '../shapes/snapshot-json.ts'

const mebibyte = 1024 ** 2
const mebibytes = v.whole(1, Number.MAX_SAFE_INTEGER / mebibyte)

const createInput = fields(
  { tag: v.word, rootfs: v.word },
  {
    /** nothing boots here, so none of these changes anything */
    kernel: v.text(4096),
    rw: v.truth,
    tap: v.word,
    boot_wait_secs: v.whole(0),
    /** beyond the original: of the sandboxes that are made from it */
    memory_limit_mib: mebibytes,
    /** beyond the original: a command line that runs before the snapshot is taken */
    warmup: v.text(64 * 1024),
  },
)
const compactInput = fields({ to: v.word }, {})
const deleteInput = options({ cascade: v.oneOf('true', 'false', '') })

export function addSnapshotRoutes(app: FastifyInstance): void {
  app.get(
    '/v1/snapshots',
    { config: { operation: 'forkd.snapshot.list', scope: 'read' } },
    async (request) => {
      const all = await visitOf(request).forkpoint.snapshots()
      return all.map(({ lastInfo }) => snapshotJson(lastInfo))
    },
  )
  app.post(
    '/v1/snapshots',
    { config: { operation: 'forkd.snapshot.create', scope: 'branch' } },
    async (request, reply) => {
      const input = bodyOf('snapshot', createInput, request)
      const made = await makeBase(visitOf(request).forkpoint, input)
      return await reply.code(201).send(snapshotJson(made.lastInfo))
    },
  )
  app.get(
    '/v1/snapshots/:tag/info',
    { config: { operation: 'forkd.snapshot.get', scope: 'read' } },
    async (request) => {
      const { forkpoint } = visitOf(request)
      const found = await findSnapshot(forkpoint, named(request, 'tag'))
      const all = await forkpoint.snapshots()
      return snapshotDetail(
        found.lastInfo,
        all.map(({ lastInfo }) => lastInfo),
      )
    },
  )
  app.post(
    '/v1/snapshots/:tag/compact',
    { config: { operation: 'forkd.snapshot.compact', scope: 'branch' } },
    async (request, reply) => {
      const { to } = bodyOf('compact', compactInput, request)
      const from = await findSnapshot(visitOf(request).forkpoint, named(request, 'tag'))
      return await reply.code(201).send(snapshotJson((await flattened(from, to)).lastInfo))
    },
  )
  app.delete(
    '/v1/snapshots/:tag',
    { config: { operation: 'forkd.snapshot.remove', scope: 'branch' } },
    async (request, reply) => {
      const { cascade = 'false' } = checked('query', deleteInput, request.query)
      const found = await findSnapshot(visitOf(request).forkpoint, named(request, 'tag'))
      await found.remove({ cascade: cascade !== 'false' })
      return await reply.code(204).send()
    },
  )
}

/** A snapshot of an environment that has just been made. */
async function makeBase(fp: ForkpointHandle, input: Given<typeof createInput>): Promise<Snapshot> {
  const { tag, rootfs, memory_limit_mib: limit, warmup } = input
  const environment = await fp.create({
    from: sourceOf(rootfs),
    ...(limit !== undefined && { limits: { memoryBytes: limit * mebibyte } }),
  })
  try {
    if (warmup !== undefined) {
      const { exitCode, stderr } = await environment.exec(warmup)
      if (exitCode !== 0) {
        throw new InvalidInputError(`the warm-up ended with ${exitCode}: ${quote(stderr)}`, {
          remedy: 'give a command line that succeeds',
        })
      }
    }
    return await environment.snapshot({ name: tag, labels: { [label.base]: 'true' } })
  } finally {
    await environment.remove({ force: true })
  }
}

/** A directory, or any source of `forkpoint create`: `host`, `image:REF`, `dockerfile:DIR`, … */
function sourceOf(rootfs: string): string {
  return rootfs.startsWith('/') ? `rootfs:${rootfs}` : rootfs
}

/** The same state under another tag, in one layer and with its own memory. */
async function flattened(from: Snapshot, to: string): Promise<Snapshot> {
  const [copy] = await from.fork(1, { atomic: true })
  if (copy === undefined) throw new InvalidInputError('nothing can be made from it')
  try {
    const taken = await copy.snapshot({ name: to })
    await taken.compact()
    return taken
  } finally {
    await copy.remove({ force: true })
  }
}

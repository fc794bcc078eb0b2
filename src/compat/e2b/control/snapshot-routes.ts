import type { FastifyInstance } from 'fastify'
import * as z from 'zod/mini'
import type { SnapshotInfo } from '../../../api/contract/data/snapshot.ts'
import type { Snapshot } from '../../../api/handles/snapshot.ts'
import { ConflictError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { jsonBody, parsed } from '../bodies.ts'
import { notHere } from '../failures.ts'
import { isOwn, ownLabels, ownSandbox, ownSnapshot } from '../owned.ts'
import type { Control } from './control.ts'
import { page, pageQuery } from './list-routes.ts'

const takeBody = z.object({ name: z.nullish(z.string().check(z.maxLength(256))) })
const listQuery = z.object({
  ...pageQuery,
  sandboxID: z.optional(z.string()),
  name: z.optional(z.string()),
})

/** Snapshots, which are templates as well, and the templates that cannot be built here. */
export function addSnapshotRoutes(control: Control, app: FastifyInstance): void {
  app.post(
    '/sandboxes/:id/snapshots',
    { config: { operation: 'e2b.snapshot', scope: 'branch' } },
    async (request, reply) => {
      const visit = control.visit(request)
      const sandbox = await ownSandbox(visit, (request.params as { id: string }).id)
      const { name } = jsonBody(takeBody, request)
      const { id, labels: ofKey } = visit.principal
      const labels = { ...ofKey, [ownLabels.key]: id }
      const { signal } = visit
      const taken = await sandbox.snapshot(name ? { name, labels, signal } : { labels, signal })
      return reply.code(201).send(shown(taken.lastInfo))
    },
  )
  app.get(
    '/snapshots',
    { config: { operation: 'e2b.snapshots', scope: 'read' } },
    async (request, reply) => {
      const { principal, forkpoint } = control.visit(request)
      const query = parsed(listQuery, request.query)
      const all = (await forkpoint.snapshots()).map(({ lastInfo }) => lastInfo)
      const rows = all.filter((info) => {
        const isOfSandbox = query.sandboxID === undefined || info.environmentId === query.sandboxID
        const isNamed = query.name === undefined || info.name === query.name
        return isOfSandbox && isNamed && info.status === 'ready' && isOwn(principal, info)
      })
      return page(reply, rows.toReversed(), query, ({ id }) => id).map(shown)
    },
  )
  app.delete(
    '/templates/:id',
    { config: { operation: 'e2b.deleteSnapshot', scope: 'branch' } },
    async (request, reply) => {
      const { id } = request.params as { id: string }
      const snapshot = await ownSnapshot(control.visit(request), id)
      if (snapshot === null) {
        throw new NotFoundError(`snapshot ${quote(id)} not found`, {
          remedy: '`Sandbox.listSnapshots()` lists those of this key',
        })
      }
      await removeOrForget(snapshot)
      return reply.code(204).send()
    },
  )
  refuseBuilds(app)
}

/** One that a sandbox builds on has to stay for now, but nobody sees or uses it any more. */
async function removeOrForget(snapshot: Snapshot): Promise<void> {
  try {
    await snapshot.remove()
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    await snapshot.label({ [ownLabels.key]: null })
  }
}

function shown({ id, name }: SnapshotInfo): object {
  return { snapshotID: id, names: name === null ? [] : [name] }
}

/** The clients build templates in the cloud; here they come from container images and snapshots. */
function refuseBuilds(app: FastifyInstance): void {
  const config = { operation: 'e2b.template', scope: 'read' } as const
  const refuse = async () => {
    throw notHere(
      'building a template',
      'build an image, and name it in the setting e2b.templates, or take a snapshot and use its name',
    )
  }
  const urls = ['/templates', '/templates/*', '/v2/templates', '/v2/templates/*', '/v3/templates']
  for (const url of urls) {
    app.route({ method: ['GET', 'POST', 'PATCH'], url, config, handler: refuse })
  }
  const others: readonly (readonly [string, string])[] = [
    ['volumes', 'use a snapshot as the template'],
    ['secrets', 'give variables with `envs`'],
  ]
  for (const [name, remedy] of others) {
    const handler = async () => {
      throw notHere(name, remedy)
    }
    for (const url of [`/${name}`, `/${name}/*`]) {
      app.route({ method: ['GET', 'POST', 'DELETE'], url, config, handler })
    }
  }
}

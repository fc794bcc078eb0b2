import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import type { ForkpointHandle } from '../../../api/handles/forkpoint.ts'
import { fields, options } from '../../../api/inputs/checked.ts'
import * as v from '../../../api/inputs/values.ts'
import { BackendError, ConflictError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { parseName } from '../../../model/values/names.ts'
import { bodyOf, named } from '../bodies.ts'
import { findSandbox, findSnapshot, missing } from '../find.ts'
import { visitOf } from '../host.ts'
import { label } from '../labels.ts'
import { isWorkspace, type WorkspaceJson, workspaceJson } from '../shapes/workspace-json.ts'
import { spawned } from './sandboxes.ts'

const createInput = fields(
  { name: v.word, snapshot_tag: v.word },
  { per_child_netns: v.truth, memory_limit_mib: v.whole(1) },
)
const suspendInput = options({ diff: v.truth })

/** Named environments that sleep and come back. */
export function addWorkspaceRoutes(app: FastifyInstance): void {
  app.get(
    '/v1/workspaces',
    { config: { operation: 'forkd.workspace.list', scope: 'read' } },
    async (request) => {
      const { forkpoint } = visitOf(request)
      const all = (await forkpoint.list()).filter(({ lastInfo }) => isWorkspace(lastInfo))
      return await Promise.all(all.map((each) => shown(forkpoint, each)))
    },
  )
  app.post(
    '/v1/workspaces',
    { config: { operation: 'forkd.workspace.create', scope: 'branch' } },
    async (request, reply) => {
      const { forkpoint } = visitOf(request)
      const input = bodyOf('workspace', createInput, request)
      const name = parseName(input.name)
      const from = await findSnapshot(forkpoint, input.snapshot_tag)
      const labels = { [label.workspace]: name }
      const [made] = await spawned(from, 1, input.memory_limit_mib, { name, labels })
      if (made === undefined) throw new BackendError(`the workspace ${quote(name)} was not made`)
      return await reply.code(201).send(await shown(forkpoint, made))
    },
  )
  app.get(
    '/v1/workspaces/:name',
    { config: { operation: 'forkd.workspace.get', scope: 'read' } },
    async (request) => await shown(visitOf(request).forkpoint, await find(request)),
  )
  app.delete(
    '/v1/workspaces/:name',
    { config: { operation: 'forkd.workspace.remove', scope: 'branch' } },
    async (request, reply) => {
      await (await find(request)).remove({ force: true })
      return await reply.code(204).send()
    },
  )
  app.post(
    '/v1/workspaces/:name/suspend',
    { config: { operation: 'forkd.workspace.suspend', scope: 'branch' } },
    async (request) => {
      bodyOf('suspend', suspendInput, request)
      const workspace = await find(request)
      requireStatus(workspace, 'running')
      await workspace.pause({ release: true })
      return await shown(visitOf(request).forkpoint, workspace)
    },
  )
  app.post(
    '/v1/workspaces/:name/resume',
    { config: { operation: 'forkd.workspace.resume', scope: 'branch' } },
    async (request) => {
      const workspace = await find(request)
      requireStatus(workspace, 'suspended')
      await workspace.resume()
      return await shown(visitOf(request).forkpoint, workspace)
    },
  )
}

async function find(request: FastifyRequest): Promise<Environment> {
  const name = named(request, 'name')
  const found = await findSandbox(visitOf(request).forkpoint, name)
  if (isWorkspace(found.lastInfo) && found.name === name) return found
  throw missing('workspace', name)
}

function requireStatus(workspace: Environment, wanted: 'running' | 'suspended'): void {
  const isRunning = workspace.lastInfo.status === 'running'
  if (isRunning === (wanted === 'running')) return
  throw new ConflictError(`the workspace is ${isRunning ? 'running' : 'suspended'} already`, {
    remedy: isRunning ? 'suspend it first' : 'resume it first',
  })
}

async function shown(fp: ForkpointHandle, workspace: Environment): Promise<WorkspaceJson> {
  const [snapshots, log] = await Promise.all([fp.snapshots(), workspace.log()])
  const { lastInfo } = workspace
  const lastActiveMs = log.at(-1)?.startedAt ?? lastInfo.createdAt
  return workspaceJson(
    lastInfo,
    snapshots.map((each) => each.lastInfo),
    lastActiveMs,
  )
}

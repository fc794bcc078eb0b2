import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import type { Environment } from '../../../api/handles/environment.ts'
import { ConflictError } from '../../../model/errors.ts'
import { jsonBody } from '../bodies.ts'
import { failureOf } from '../failures.ts'
import type { Visit } from '../host.ts'
import { ownLabels, ownSandbox } from '../owned.ts'
import type { Control } from './control.ts'
import { changeEgress, createSandbox, newSandbox } from './create.ts'
import { timeout, ttlOf } from './lifecycle.ts'
import { metricsOf } from './metrics.ts'
import { egressOf, networkUpdate } from './network.ts'
import { connection, detailed, stateOf } from './sandbox-json.ts'

const timeoutBody = z.object({ timeout: z.nullish(timeout) })
const connectBody = z.object({ timeout: z.nullish(timeout), memory: z.nullish(z.boolean()) })
const pauseBody = z.object({ memory: z.nullish(z.boolean()) })
const forkBody = z.object({
  count: z.nullish(z.int().check(z.minimum(1), z.maximum(100))),
  timeout: z.nullish(timeout),
})

interface Asked {
  readonly visit: Visit
  readonly sandbox: Environment
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Everything about one sandbox, and making it. */
export function addSandboxRoutes(control: Control, app: FastifyInstance): void {
  for (const url of ['/sandboxes', '/v2/sandboxes']) {
    app.post(
      url,
      { config: { operation: 'e2b.create', scope: 'branch' } },
      async (request, reply) => {
        const visit = control.visit(request)
        const made = await createSandbox(visit, control, jsonBody(newSandbox, request))
        return reply.code(201).send(answer(control, visit, made, request))
      },
    )
  }
  const on = sandboxRoute(control, app)
  on('GET', '', 'info', 'read', async ({ visit, sandbox, request }) =>
    detailed(control, visit.principal, sandbox.lastInfo, control.domainOf(request)),
  )
  on('DELETE', '', 'kill', 'branch', async ({ sandbox, reply }) => {
    // What runs is all there is of a sandbox, whether its last snapshot can be restored or not.
    await sandbox.remove({ force: true })
    return reply.code(204).send()
  })
  for (const prefix of ['', '/v2']) {
    on('POST', '/connect', 'connect', 'branch', (asked) => connect(control, asked), prefix)
  }
  on('POST', '/resume', 'connect', 'branch', (asked) => connect(control, asked))
  on('POST', '/timeout', 'timeout', 'branch', async ({ sandbox, request, reply }) => {
    await sandbox.setPolicy({ ttlMs: ttlOf(jsonBody(timeoutBody, request).timeout) })
    return reply.code(204).send()
  })
  on('POST', '/refreshes', 'timeout', 'branch', async ({ sandbox, reply }) => {
    await sandbox.setPolicy({ ttlMs: ttlOf(undefined) })
    return reply.code(204).send()
  })
  on('POST', '/pause', 'pause', 'branch', pause)
  on('POST', '/fork', 'fork', 'branch', (asked) => fork(control, asked))
  on('GET', '/metrics', 'metrics', 'read', async ({ sandbox }) => await metricsOf(sandbox))
  on('PUT', '/network', 'network', 'branch', async ({ sandbox, request, reply }) => {
    await changeEgress(sandbox, egressOf(jsonBody(networkUpdate, request)))
    return reply.code(204).send()
  })
}

type Handle = (asked: Asked) => Promise<unknown>

function sandboxRoute(control: Control, app: FastifyInstance) {
  return (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    name: string,
    scope: 'read' | 'branch',
    handle: Handle,
    prefix = '',
  ): void => {
    app.route({
      method,
      url: `${prefix}/sandboxes/:id${path}`,
      config: { operation: `e2b.${name}`, scope },
      handler: async (request, reply) => {
        const visit = control.visit(request)
        const { id } = request.params as { id: string }
        const sandbox = await ownSandbox(visit, id)
        return await handle({ visit, sandbox, request, reply })
      },
    })
  }
}

function answer(
  control: Control,
  { principal }: Visit,
  { lastInfo }: Environment,
  request: FastifyRequest,
): object {
  return connection(control, principal, lastInfo, control.domainOf(request))
}

/** Resumes it if it is paused, and gives it more time. */
async function connect(control: Control, { visit, sandbox, request, reply }: Asked) {
  const { timeout, memory } = jsonBody(connectBody, request)
  const wasPaused = stateOf(sandbox.lastInfo) === 'paused'
  if (wasPaused) await sandbox.resume()
  if (wasPaused && memory === false) await reboot(sandbox)
  const { policy } = sandbox.lastInfo
  const ttlMs = ttlOf(timeout)
  // A sandbox that runs never gets less time than it has.
  if (wasPaused || (policy.expiresAt ?? 0) < Date.now() + ttlMs) await sandbox.setPolicy({ ttlMs })
  return reply.code(wasPaused ? 201 : 200).send(answer(control, visit, sandbox, request))
}

async function pause({ sandbox, request, reply }: Asked): Promise<unknown> {
  const { memory } = jsonBody(pauseBody, request)
  if (stateOf(sandbox.lastInfo) === 'paused') {
    throw new ConflictError(`sandbox ${sandbox.id} is paused already`, { remedy: 'connect to it' })
  }
  if (memory === false) await reboot(sandbox)
  await sandbox.pause({ release: true })
  return reply.code(204).send()
}

/** Only its files stay. */
async function reboot(sandbox: Environment): Promise<void> {
  await sandbox.restore(await sandbox.snapshot({ mode: 'filesystem' }))
}

/** One that is paused is forked from what it was when it was paused. */
async function forkable(
  { forkpoint }: Visit,
  sandbox: Environment,
): Promise<Pick<Environment, 'fork'>> {
  const { status, head } = sandbox.lastInfo
  return status === 'released' && head !== null ? await forkpoint.snapshot(head) : sandbox
}

async function fork(control: Control, { visit, sandbox, request, reply }: Asked): Promise<unknown> {
  const { count, timeout } = jsonBody(forkBody, request)
  const labels = { ...visit.principal.labels, [ownLabels.key]: visit.principal.id }
  const source = await forkable(visit, sandbox)
  const forks = await source.fork(count ?? 1, { labels, signal: visit.signal })
  // Without one, they have as long as the sandbox had when it was made.
  if (timeout !== undefined && timeout !== null) {
    await Promise.all(forks.map((each) => each.setPolicy({ ttlMs: ttlOf(timeout) })))
  }
  const failed = forks.errors.map((error) => {
    const { status, message } = failureOf(error)
    return { error: { code: status, message } }
  })
  const made = forks.map((each) => ({ sandbox: answer(control, visit, each, request) }))
  return reply.code(201).send([...made, ...failed])
}

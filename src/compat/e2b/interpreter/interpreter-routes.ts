import { once } from 'node:events'
import { stripTypeScriptTypes } from 'node:module'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import type { Environment } from '../../../api/handles/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import type { FindSandbox } from '../agent/file-routes.ts'
import { sandboxVariables } from '../agent/process-streams.ts'
import { bufferBodies, jsonBody } from '../bodies.ts'
import { failureOf } from '../failures.ts'
import { ownLabels } from '../owned.ts'
import { interpreterPrefix } from '../targets.ts'
import { runBash } from './bash-cell.ts'
import { type Context, Contexts } from './contexts.ts'
import type { KernelEvent } from './kernel-session.ts'

/** Of one piece of code. */
const longestCode = 16 * 1024 ** 2

const word = z.nullish(z.string().check(z.maxLength(4096)))

const executeBody = z.object({
  code: z.string(),
  context_id: word,
  language: word,
  env_vars: z.nullish(z.record(z.string(), z.string())),
})

const contextBody = z.object({ language: word, cwd: word })

/** What the clients of the code interpreter call. */
export function addInterpreterRoutes(app: FastifyInstance, find: FindSandbox): void {
  bufferBodies(app, longestCode)
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = failureOf(error)
    return reply.code(status).type('text/plain').send(message)
  })
  const contexts = new Contexts()
  const config = (name: string) => ({ operation: `e2b.code.${name}`, scope: 'exec' }) as const
  app.post(
    `${interpreterPrefix}/execute`,
    { config: config('runCode') },
    async (request, reply) => await execute(contexts, await find(request, reply), request, reply),
  )
  const url = `${interpreterPrefix}/contexts`
  app.post(url, { config: config('createContext') }, async (request, reply) => {
    const environment = await find(request, reply)
    const { language, cwd } = jsonBody(contextBody, request)
    return await contexts.create(environment, language ?? undefined, cwd ?? undefined)
  })
  app.get(
    url,
    { config: config('listContexts') },
    async (request, reply) => await contexts.list(await find(request, reply)),
  )
  app.delete(`${url}/:context`, { config: config('removeContext') }, async (request, reply) => {
    const environment = await find(request, reply)
    await contexts.remove(environment, contexts.named(environment, contextOf(request)))
    return reply.code(204).send()
  })
  app.post(`${url}/:context/restart`, { config: config('restart') }, async (request, reply) => {
    const environment = await find(request, reply)
    await contexts.stop(environment, contexts.named(environment, contextOf(request)))
    return reply.code(204).send()
  })
}

function contextOf({ params }: FastifyRequest): string {
  return (params as { context: string }).context
}

/** One JSON object a line, as it comes. */
async function execute(
  contexts: Contexts,
  environment: Environment,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { code, context_id: id, language, env_vars } = jsonBody(executeBody, request)
  const context = contexts.named(environment, id ?? undefined, language ?? undefined)
  const envs = { ...sandboxVariables(environment, ownLabels.envs), ...env_vars }
  const session = context.language === 'bash' ? null : await contexts.session(environment, context)
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { 'content-type': 'application/x-ndjson' })
  raw.flushHeaders()
  const send = async (event: KernelEvent) => {
    if (raw.destroyed || raw.write(`${JSON.stringify(event)}\n`)) return
    await Promise.race([once(raw, 'drain'), once(raw, 'close')])
  }
  const hungUp = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) hungUp.abort()
  })
  try {
    const wanted = { code: plainCode(context, code), envs }
    if (session) await session.run(wanted, send, hungUp.signal)
    else await runBash(environment, context, wanted, send, hungUp.signal)
  } catch (error) {
    await send(failed(context, error))
  }
  raw.end()
  return reply
}

/** The Node inside may be too old to know types, so they are taken out here. */
function plainCode({ language }: Context, code: string): string {
  if (language !== 'typescript') return code
  try {
    return stripTypeScriptTypes(code)
  } catch (error) {
    throw new InvalidInputError(`not TypeScript: ${(error as Error).message}`, {
      remedy: 'use only types that can be left out: no enums, no parameter properties',
      cause: error,
    })
  }
}

/** The session itself failed, and not the code. */
function failed({ id }: Context, error: unknown): KernelEvent {
  const { message } = failureOf(error)
  return { type: 'error', name: 'ContextError', value: message, traceback: `${id}: ${message}` }
}

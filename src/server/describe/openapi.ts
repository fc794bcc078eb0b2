import * as z from 'zod/mini'
import { contract, type OperationName, streams } from '../../api/contract/contract.ts'
import { errorData } from '../../api/contract/data/data.ts'
import { event } from '../../api/contract/data/store.ts'
import { loginLink, principalInfo } from '../../api/contract/data/token.ts'
import {
  connectPath,
  dashboardPaths,
  eventsPath,
  insidePath,
  insidePaths,
  pathFields,
  type Route,
  requestPath,
  routes,
  streamRoutes,
} from '../../api/contract/routes.ts'
import { linkInput } from '../dashboard/login.ts'
import type { InsideRoute } from '../inside/inside-route.ts'
import { attachInput } from '../inside/terminals.ts'

type Json = Readonly<Record<string, unknown>>

/** One route, whatever it comes from. */
interface Described {
  readonly method: string
  readonly path: string
  readonly operation: string
  readonly scope: string
  readonly summary: string
  readonly input: z.ZodMiniType
  readonly sends: 'query' | 'json' | 'bytes'
  readonly answer: Json
}

/** The description of every route, as OpenAPI 3.1. */
export function openApi(version: string, inside: readonly InsideRoute<unknown>[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const each of [...contractRoutes(), ...inside.map(insideRoute), ...others()]) {
    const path = paths[each.path] ?? {}
    path[each.method.toLowerCase()] = operationOf(each)
    paths[each.path] = path
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Forkpoint', version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: schemaOf(z.object({ error: z.extend(errorData, { requestId: z.string() }) })),
      },
    },
  }
}

function contractRoutes(): Described[] {
  const calls = (Object.keys(routes) as OperationName[]).flatMap((name) =>
    described(name, routes[name], contract[name], jsonAnswer(contract[name].output)),
  )
  const bytes = (Object.keys(streamRoutes) as (keyof typeof streamRoutes)[]).flatMap((name) =>
    described(name, streamRoutes[name], streams[name], bytesAnswer),
  )
  return [...calls, ...bytes]
}

function described(
  operation: string,
  { method, paths }: Route,
  { scope, input }: { readonly scope: string; readonly input: z.ZodMiniType },
  answer: Json,
): Described[] {
  const sends = method === 'POST' ? 'json' : 'query'
  return paths.map((path) => ({
    ...{ method, path, operation, scope, input, answer, sends },
    summary: operation,
  }))
}

function insideRoute(route: InsideRoute<unknown>): Described {
  const { method, operation, scope, summary, input } = route
  const sends = route.sends ?? (method === 'POST' ? 'json' : 'query')
  const answers = {
    json: jsonAnswer(z.unknown()),
    bytes: bytesAnswer,
    lines: linesAnswer(z.unknown()),
    nothing,
  }
  const path = `/v1/environments/{id}/${route.path}`
  return { method, path, operation, scope, summary, input, sends, answer: answers[route.answers] }
}

/** Routes that are neither operations nor JSON about something inside. */
function others(): Described[] {
  const get = { method: 'GET', sends: 'query', input: z.object({}) } as const
  const exec = { ...get, scope: 'exec', answer: socketAnswer } as const
  return [
    {
      ...get,
      path: eventsPath,
      operation: 'events',
      scope: 'read',
      summary: 'what happens from now on, or after an event, as server-sent events or JSON lines',
      input: z.object({ after: z.optional(z.number()) }),
      answer: linesAnswer(event),
    },
    {
      ...get,
      method: 'POST',
      path: '/mcp',
      operation: 'mcp',
      scope: 'read',
      summary: 'the Model Context Protocol; each tool also needs the scope of what it does',
      answer: jsonAnswer(z.unknown()),
    },
    {
      ...get,
      method: 'POST',
      sends: 'json',
      path: dashboardPaths.link,
      operation: 'dashboard.link',
      scope: 'admin',
      summary: 'a link that logs a browser in, once and within two minutes',
      input: linkInput,
      answer: jsonAnswer(loginLink),
    },
    {
      ...get,
      path: dashboardPaths.principal,
      operation: 'principal',
      scope: 'read',
      summary: 'what the token of this request may do',
      answer: jsonAnswer(principalInfo),
    },
    {
      ...exec,
      path: connectPath,
      operation: 'connect',
      summary: "a WebSocket that is joined to the stream of the environment's agent",
    },
    {
      ...exec,
      path: '/v1/environments/{id}/terminals/{terminal}',
      operation: 'terminal.attach',
      input: attachInput,
      summary: 'a WebSocket: binary messages are output and input, text is { cols, rows }',
    },
    {
      ...exec,
      path: insidePath(insidePaths.terminalWatch),
      operation: 'terminal.watch',
      scope: 'read',
      summary:
        'a WebSocket: { cols, rows }, then binary messages of output. Whatever the client sends ends it',
    },
    {
      ...exec,
      path: insidePath(insidePaths.portBytes),
      operation: 'port.bytes',
      summary: 'a WebSocket: binary messages are the bytes of a TCP connection to a port inside',
    },
    {
      ...exec,
      path: '/v1/environments/{id}/ports/{port}/{rest}',
      operation: 'port',
      summary: 'HTTP and WebSockets of a port inside, with any method',
      answer: bytesAnswer,
    },
    {
      ...get,
      method: 'DELETE',
      path: requestPath,
      operation: 'cancel',
      scope: 'read',
      summary: 'stop a request that is under way, by its idempotency key',
      answer: nothing,
    },
    {
      ...get,
      path: '/metrics',
      operation: 'metrics',
      scope: 'read',
      summary: 'counts and times for Prometheus',
      answer: { '200': { description: 'text', content: { 'text/plain': {} } } },
    },
  ]
}

function operationOf(route: Described): Json {
  const { operation, scope, summary, path } = route
  const input = schemaOf(route.input, 'input')
  const inPath = pathFields(path)
  const key = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }
  return {
    operationId: operation + (path.startsWith('/v1/snapshots/{of}') ? '.ofSnapshot' : ''),
    summary,
    description: `needs the scope ${scope}`,
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...(route.sends === 'json' ? [] : queryParameters(input, inPath)),
      ...(route.method === 'POST' ? [key] : []),
    ],
    ...bodyOf(route, input, inPath),
    responses: { ...route.answer, default: failure },
  }
}

function queryParameters(input: Json, inPath: readonly string[]): Json[] {
  const { properties = {}, required = [] } = input as { properties?: Json; required?: string[] }
  return Object.entries(properties)
    .filter(([name]) => !inPath.includes(name))
    .map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }))
}

function bodyOf({ sends }: Described, input: Json, inPath: readonly string[]): Json {
  if (sends === 'query') return {}
  if (sends === 'bytes') return { requestBody: { content: { 'application/octet-stream': {} } } }
  const {
    properties = {},
    required = [],
    ...rest
  } = input as { properties?: Json; required?: string[] }
  const own = Object.entries(properties).filter(([name]) => !inPath.includes(name))
  const schema = {
    ...rest,
    properties: Object.fromEntries(own),
    required: required.filter((name) => !inPath.includes(name)),
  }
  return { requestBody: { content: { 'application/json': { schema } } } }
}

const failure = {
  description: 'what failed, and what to do',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const socketAnswer = { '101': { description: 'a WebSocket' } }

const nothing = { '204': { description: 'done' } }

const bytesAnswer = {
  '200': { description: 'bytes', content: { 'application/octet-stream': {} } },
}

function jsonAnswer(output: z.ZodMiniType): Json {
  const schema = schemaOf(output)
  if (schema.type === 'null') return nothing
  return { '200': { description: 'done', content: { 'application/json': { schema } } } }
}

function linesAnswer(line: z.ZodMiniType): Json {
  const schema = schemaOf(line)
  const content = { 'application/x-ndjson': { schema }, 'text/event-stream': { schema } }
  return { '200': { description: 'one document a line', content } }
}

/** What JSON Schema cannot say is left open; the daemon checks it anyway. */
function schemaOf(schema: z.ZodMiniType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  return rest
}

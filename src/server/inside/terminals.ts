import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { insidePath, insidePaths } from '../../api/contract/routes.ts'
import type { Environment } from '../../api/handles/environment.ts'
import type { TerminalViewer, TerminalWatcher } from '../../api/handles/terminal-viewer.ts'
import { checked, fields, options } from '../../api/inputs/checked.ts'
import * as v from '../../api/inputs/values.ts'
import { includesScope, type Scope } from '../../model/values/scopes.ts'
import { upgradeRequired } from '../errors.ts'
import { queryOf } from '../routes/input.ts'
import { type InsideApp, insideRoute } from './inside-route.ts'

const longestInput = 1024 ** 2
/** The status with which a WebSocket closes on somebody who does what they may not. */
const policyViolation = 1008
const cells = v.whole(1, 65_535)

const typed = fields({ data: v.text(longestInput) }, {})
const size = fields({ cols: cells, rows: cells }, {})
/** The size of the viewer, which the terminal has before its screen is drawn. */
export const attachInput = options({ cols: cells, rows: cells })

/** Terminals inside, by their names. Using one that does not exist starts it. */
export function addTerminals(to: InsideApp): void {
  const route = { path: insidePaths.terminal, scope: 'exec', answers: 'nothing' } as const
  insideRoute(
    to,
    {
      ...route,
      method: 'GET',
      path: insidePaths.terminals,
      operation: 'terminal.list',
      scope: 'read',
      summary: 'the terminals that were started',
      input: options({}),
      answers: 'json',
    },
    async ({ environment, request }) => await (await seen(request, environment)).terminals(),
  )
  insideRoute(
    to,
    {
      ...route,
      method: 'GET',
      path: `${route.path}/screen`,
      operation: 'terminal.screen',
      summary: 'what a person would see on the screen now',
      input: options({}),
      answers: 'json',
    },
    ({ environment, params }) => environment.terminal(params.terminal).screen(),
  )
  insideRoute(
    to,
    {
      ...route,
      method: 'POST',
      path: `${route.path}/input`,
      operation: 'terminal.input',
      summary: 'type',
      input: typed,
    },
    ({ environment, params, input }) => environment.terminal(params.terminal).write(input.data),
  )
  insideRoute(
    to,
    {
      ...route,
      method: 'POST',
      path: `${route.path}/resize`,
      operation: 'terminal.resize',
      summary: 'change its size',
      input: size,
    },
    ({ environment, params, input }) => environment.terminal(params.terminal).resize(input),
  )
  insideRoute(
    to,
    {
      ...route,
      method: 'DELETE',
      operation: 'terminal.close',
      summary: 'hang up, which ends the programs that run on it',
      input: options({}),
    },
    ({ environment, params }) => environment.terminal(params.terminal).close(),
  )
  addStream(to.app)
  addWatch(to.app)
}

/** The environment, for whoever may use it or only look. */
async function seen(
  { session: { principal, watching } }: FastifyRequest,
  environment: Environment,
): Promise<Environment> {
  return includesScope(principal.scope, 'exec') ? environment : await watching.get(environment.id)
}

/** A WebSocket: binary messages are output and what is typed, text messages are `{ cols, rows }`. */
function addStream(app: FastifyInstance): void {
  addSocket<TerminalViewer>(app, {
    path: insidePaths.terminal,
    operation: 'terminal.attach',
    scope: 'exec',
    open: async (environment, name, { query }) =>
      await environment.terminal(name).attach(checked('attach', attachInput, queryOf(query))),
    join,
  })
}

/** A WebSocket that shows a terminal. There is no way from it to the terminal. */
function addWatch(app: FastifyInstance): void {
  addSocket<TerminalWatcher>(app, {
    path: insidePaths.terminalWatch,
    operation: 'terminal.watch',
    scope: 'read',
    open: async ({ id }, name, { session: { watching } }) =>
      await (await watching.get(id)).terminal(name).watch(),
    join: (socket, watcher) => {
      const leave = () => socket.close()
      socket.on('message', () => socket.close(policyViolation, 'this viewer may only watch'))
      showSized(socket, watcher).then(leave, leave)
    },
  })
}

interface SocketRoute<V> {
  readonly path: string
  readonly operation: string
  readonly scope: Scope
  open(environment: Environment, terminal: string, request: FastifyRequest): Promise<V>
  join(socket: WebSocket, viewer: V): void
}

function addSocket<V extends TerminalWatcher>(
  app: FastifyInstance,
  { path, operation, scope, open, join }: SocketRoute<V>,
): void {
  const opened = new WeakMap<object, V>()
  app.route({
    method: 'GET',
    url: insidePath(path).replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation, scope },
    preHandler: async (request) => {
      const { id, terminal } = request.params as { id: string; terminal: string }
      const environment = await request.session.forkpoint.get(id)
      if (!request.ws) throw upgradeRequired()
      const viewer = await open(environment, terminal, request)
      // A client that hangs up before it has its answer never reaches the handler.
      request.raw.socket.once('close', () => viewer.detach())
      opened.set(request, viewer)
    },
    handler: async () => {},
    wsHandler: (socket, request) => {
      const viewer = opened.get(request)
      if (viewer === undefined) return socket.terminate()
      join(socket, viewer)
    },
  })
}

async function showSized(socket: WebSocket, watcher: TerminalWatcher): Promise<void> {
  const { cols, rows } = await watcher.opened()
  socket.send(JSON.stringify({ cols, rows }))
  await show(socket, watcher)
}

function join(socket: WebSocket, viewer: TerminalViewer): void {
  const leave = () => socket.close()
  socket.on('message', (message: Buffer, isBinary) => {
    // Whoever typed sees that the connection closes.
    receive(viewer, message, isBinary ? 'typed' : 'size').catch(leave)
  })
  show(socket, viewer).then(leave, leave)
}

async function receive(
  viewer: TerminalViewer,
  message: Buffer,
  what: 'typed' | 'size',
): Promise<void> {
  if (what === 'typed') return await viewer.write(message)
  await viewer.resize(checked('resize', size, JSON.parse(message.toString('utf8'))))
}

async function show(socket: WebSocket, viewer: TerminalWatcher): Promise<void> {
  for await (const chunk of viewer.data()) {
    // The program inside waits for a slow client.
    await new Promise<void>((resolve, reject) =>
      socket.send(chunk, (error) => (error ? reject(error) : resolve())),
    )
  }
}

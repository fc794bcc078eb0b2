import type { OperationName, StreamName } from './contract.ts'

export type Method = 'GET' | 'POST' | 'DELETE'

/** `{field}` in a path is a field of the input; GET and DELETE have the others in the query, POST in the body. */
export interface Route {
  readonly method: Method
  /** several if what it works on may be an environment or a snapshot */
  readonly paths: readonly [string, ...string[]]
}

const environment = '/v1/environments/{id}'
const snapshot = '/v1/snapshots/{id}'

const get = (...paths: Route['paths']): Route => ({ method: 'GET', paths })
const post = (...paths: Route['paths']): Route => ({ method: 'POST', paths })
const remove = (...paths: Route['paths']): Route => ({ method: 'DELETE', paths })

/** Below both, for inputs that call it `of`. */
const ofEither = (rest: string): Route['paths'] => [
  `/v1/environments/{of}/${rest}`,
  `/v1/snapshots/{of}/${rest}`,
]

/** Where each operation is on the wire. Everything else about it is in the contract. */
export const routes: Readonly<Record<OperationName, Route>> = {
  'environment.create': post('/v1/environments'),
  'environment.attach': post('/v1/attach'),
  'environment.get': get('/v1/environments/{reference}'),
  'environment.list': get('/v1/environments'),
  'environment.stats': get(`${environment}/stats`),
  'environment.log': get('/v1/environments/{reference}/log'),
  'environment.commandLog': get('/v1/environments/{reference}/command-log'),
  'environment.pause': post(`${environment}/pause`),
  'environment.resume': post(`${environment}/resume`),
  'environment.wake': post(`${environment}/wake`),
  'environment.policy': post(`${environment}/policy`),
  'environment.net': post(`${environment}/net`),
  'environment.snapshot': post(`${environment}/snapshots`),
  'environment.restore': post(`${environment}/restore`),
  'environment.fork': post(`${environment}/fork`),
  'environment.promote': post(`${environment}/promote`),
  'environment.noteCopy': post(`${environment}/copies`),
  'environment.copyNote': get(`${environment}/copies/{copy}`),
  'environment.rename': post(`${environment}/rename`),
  'environment.label': post(`${environment}/labels`),
  'environment.remove': remove(environment),
  'snapshot.get': get('/v1/snapshots/{reference}'),
  'snapshot.list': get('/v1/snapshots'),
  'snapshot.fork': post(`${snapshot}/fork`),
  'snapshot.label': post(`${snapshot}/labels`),
  'snapshot.annotate': post(`${snapshot}/metadata`),
  'snapshot.rename': post(`${snapshot}/rename`),
  'snapshot.ready': get(`${snapshot}/ready`),
  'snapshot.durable': post(`${snapshot}/durable`),
  'snapshot.prove': post(`${snapshot}/prove`),
  'snapshot.compact': post('/v1/compact'),
  'snapshot.remove': post('/v1/snapshots/remove'),
  'snapshot.prune': post('/v1/prune'),
  'files.diff': post(...ofEither('diff')),
  'files.changes': get('/v1/environments/{of}/changes'),
  'files.entries': post(...ofEither('entries')),
  'files.digests': post('/v1/environments/{of}/digests'),
  find: get('/v1/find/{reference}'),
  tree: get('/v1/tree'),
  usage: get('/v1/usage'),
  'images.prune': post('/v1/images/prune'),
  warnings: get('/v1/warnings'),
  operations: get('/v1/operations'),
  failureLogs: get('/v1/failure-logs'),
  spares: get('/v1/spares'),
  'spares.settled': get('/v1/spares/settled'),
  'token.create': post('/v1/tokens'),
  'token.list': get('/v1/tokens'),
  'token.rotate': post('/v1/tokens/{reference}/rotate'),
  'token.remove': remove('/v1/tokens/{reference}'),
}

/** The operations that answer with bytes. */
export const streamRoutes: Readonly<Record<StreamName, Route>> = {
  'files.archive': post(...ofEither('archive')),
}

/** The event stream, and the stream to an environment's agent. */
export const eventsPath = '/v1/events'
export const connectPath = `${environment}/connect`

/** How a browser logs in, and learns what it may do. */
export const dashboardPaths = {
  link: '/v1/dashboard/links',
  login: '/v1/dashboard/login',
  logout: '/v1/dashboard/logout',
  principal: '/v1/principal',
} as const

/** What browsers use inside an environment, below its path. */
export const insidePaths = {
  exec: 'exec',
  commands: 'commands',
  processes: 'processes',
  output: 'commands/{command}/output',
  files: 'files',
  fileList: 'files/list',
  terminals: 'terminals',
  terminal: 'terminals/{terminal}',
  terminalWatch: 'terminals/{terminal}/watch',
  ports: 'ports',
  portLinks: 'port-links',
  portBytes: 'tcp/{port}',
} as const

/** The whole path of something inside an environment. */
export function insidePath(rest: string): string {
  return `${environment}/${rest}`
}

/** A request that is under way, by its idempotency key. */
export const requestPath = '/v1/requests/{key}'

/** The trailer in which a daemon says why a body of bytes ends early: an error as JSON, in base64url. */
export const errorTrailer = 'forkpoint-error'

const placeholder = /\{(\w+)\}/g

/** The fields of the input that a path contains. */
export function pathFields(path: string): string[] {
  return Array.from(path.matchAll(placeholder), ([, field = '']) => field)
}

/** A path with the values of its fields. Half of a surrogate pair cannot be sent, and names nothing. */
export function filledPath(path: string, fieldOf: (field: string) => unknown): string {
  return path.replaceAll(placeholder, (_, field) =>
    encodeURIComponent(String(fieldOf(field)).toWellFormed()),
  )
}

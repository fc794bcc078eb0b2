import { join } from 'node:path'
import { addE2b, e2bUrl } from './compat/e2b/wire.ts'
import { addForkd } from './compat/forkd/wire.ts'
import { agentTransport } from './engine/control/agent-transport.ts'
import { engineControl } from './engine/control/engine-control.ts'
import { keptSecret } from './engine/control/kept-secret.ts'
import { once } from './engine/control/once.ts'
import { tokenById, tokenRecord } from './engine/control/token-record.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { appliesIn } from './engine/recovery/applies.ts'
import { Forkpoint, type OpenOptions } from './forkpoint.ts'
import { openLog } from './log/open-log.ts'
import { version } from './model/values/version.ts'
import type { Principal } from './server/access/principal.ts'
import type { TcpAddress } from './server/listen/tcp-address.ts'
import { type Served, type ServeOptions, serve } from './server/serve.ts'
import type { Service } from './server/service.ts'
import type { Wire } from './server/wires/wire.ts'

export { parseTcpAddress } from './server/listen/tcp-address.ts'

export type DaemonOptions = Omit<ServeOptions, 'stateDir' | 'auditPath' | 'wires'> & {
  readonly open: OpenOptions
  /** where the clients of forkd are served */
  readonly forkd?: TcpAddress | undefined
  /** where the clients of E2B are served */
  readonly e2b?: TcpAddress | undefined
  /** called when somebody asks the daemon to end */
  readonly onStop: () => void
}

/** Opens the home, recovers what the daemon before it left, and serves it until it is disposed of. */
export async function startDaemon({
  open,
  onStop,
  forkd,
  e2b,
  ...options
}: DaemonOptions): Promise<Served> {
  await using undo = new AsyncDisposableStack()
  const { settings } = Forkpoint.settings(open)
  const log = await openLog(settings.log === 'silent' ? 'info' : settings.log)
  const engine = undo.use(await openEngine(settings, { spares: 'prepared', log, policies: 'kept' }))
  const service: Service = {
    control: engineControl(engine),
    watch: (id) => agentTransport(engine, id, 'watch'),
    version,
    log,
    principalOf: (token) => principalOf(tokenRecord(engine, token)),
    principalById: (id) => principalOf(tokenById(engine, id)),
    principalIds: () => engine.store.tokens.list().map(({ id }) => id),
    once: (request, work, found) => once(engine, request, work, found),
    readiness: async () => whyNotReady(engine),
    figures: () => ({ waiting: engine.admission.waiting, spares: engine.spareCounts }),
    stop: onStop,
  }
  const { home } = engine.settings
  const places = { stateDir: appliesIn(home), auditPath: join(home, 'audit.log') }
  const wires: Wire[] = []
  if (forkd !== undefined) wires.push({ listen: forkd, add: addForkd })
  if (e2b !== undefined) wires.push(e2bWire(engine, e2b, options.domain))
  const served = undo.use(await serve(service, { ...options, ...places, wires }))
  const owned = undo.move()
  return { ...served, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function principalOf({ id, name, scope, labels }: Principal): Principal {
  return { id, name, scope, labels }
}

function e2bWire({ settings }: Engine, listen: TcpAddress, domain: string | undefined): Wire {
  const secret = keptSecret(join(settings.home, 'e2b.secret'))
  const options = { secret, templates: settings.e2b.templates, domain }
  return {
    listen,
    rewriteUrl: e2bUrl(domain),
    add: (app, access) => addE2b(app, access, options),
  }
}

function whyNotReady({ store }: Engine): string[] {
  try {
    store.events.last()
    return []
  } catch (error) {
    return [`the store cannot be read: ${(error as Error).message}`]
  }
}

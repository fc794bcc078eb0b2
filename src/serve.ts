import { join } from 'node:path'
import { engineControl } from './engine/control/engine-control.ts'
import { once } from './engine/control/once.ts'
import { tokenRecord } from './engine/control/token-record.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { appliesIn } from './engine/recovery/applies.ts'
import { Forkpoint, type OpenOptions } from './forkpoint.ts'
import { openLog } from './log/open-log.ts'
import { version } from './model/values/version.ts'
import { type Served, type ServeOptions, serve } from './server/serve.ts'
import type { Service } from './server/service.ts'

export { parseTcpAddress } from './server/listen/tcp-address.ts'

export type DaemonOptions = Omit<ServeOptions, 'stateDir' | 'auditPath'> & {
  readonly open: OpenOptions
  /** called when somebody asks the daemon to end */
  readonly onStop: () => void
}

/** Opens the home, recovers what the daemon before it left, and serves it until it is disposed of. */
export async function startDaemon({ open, onStop, ...options }: DaemonOptions): Promise<Served> {
  await using undo = new AsyncDisposableStack()
  const { settings } = Forkpoint.settings(open)
  const log = await openLog(settings.log === 'silent' ? 'info' : settings.log)
  const engine = undo.use(await openEngine(settings, { spares: 'prepared', log }))
  const service: Service = {
    control: engineControl(engine),
    version,
    log,
    principalOf: (token) => {
      const { id, name, scope, labels } = tokenRecord(engine, token)
      return { id, name, scope, labels }
    },
    once: (request, work, found) => once(engine, request, work, found),
    readiness: async () => whyNotReady(engine),
    figures: () => ({ waiting: engine.admission.waiting, spares: engine.spareCounts }),
    stop: onStop,
  }
  const { home } = engine.settings
  const places = { stateDir: appliesIn(home), auditPath: join(home, 'audit.log') }
  const served = undo.use(await serve(service, { ...options, ...places }))
  const owned = undo.move()
  return { ...served, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function whyNotReady({ store }: Engine): string[] {
  try {
    store.events.last()
    return []
  } catch (error) {
    return [`the store cannot be read: ${(error as Error).message}`]
  }
}

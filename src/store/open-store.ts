import { join } from 'node:path'
import { type ActivityTimes, activityTimes } from './activity.ts'
import { openDatabase } from './database.ts'
import { type EndedCommands, endedCommands } from './ended-commands.ts'
import { type Environments, environments } from './environments.ts'
import { type EventLog, eventLog } from './event-log.ts'
import { type Journal, journal } from './journal.ts'
import { type Leases, leases } from './leases.ts'
import { type Requests, requests } from './requests.ts'
import { type Reservations, reservations } from './reservations.ts'
import { type Snapshots, snapshots } from './snapshots.ts'
import { type Spares, spares } from './spares.ts'
import { type Tokens, tokens } from './tokens.ts'

/** Everything Forkpoint remembers. Several processes may have the same home open. */
export interface Store extends Disposable, AsyncDisposable {
  readonly home: string
  readonly environments: Environments
  readonly snapshots: Snapshots
  readonly journal: Journal
  readonly spares: Spares
  readonly leases: Leases
  readonly reservations: Reservations
  readonly endedCommands: EndedCommands
  readonly events: EventLog
  readonly tokens: Tokens
  readonly requests: Requests
  readonly activity: ActivityTimes
  /** All the changes of `work`, or none. It must not wait: the whole store is locked while it runs. */
  transaction<T>(work: () => T): T
  /** Also gives up the leases held through this store. */
  close(): void
}

export function openStore(home: string): Store {
  const db = openDatabase(join(home, 'db.sqlite'))
  const held = leases(db)
  let open = true
  const close = (): void => {
    if (!open) return
    open = false
    try {
      held.giveUpAll()
    } finally {
      db.close()
    }
  }
  return {
    home,
    environments: environments(db),
    snapshots: snapshots(db),
    journal: journal(db),
    spares: spares(db),
    leases: held,
    reservations: reservations(db),
    endedCommands: endedCommands(db),
    events: eventLog(db),
    tokens: tokens(db),
    requests: requests(db),
    activity: activityTimes(db),
    transaction: db.transaction,
    close,
    [Symbol.dispose]: close,
    [Symbol.asyncDispose]: async () => close(),
  }
}

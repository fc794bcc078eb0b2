import { join } from 'node:path'
import { openDatabase } from './database.ts'
import { type Environments, environments } from './environments.ts'
import { type Journal, journal } from './journal.ts'
import { type Leases, leases } from './leases.ts'
import { type Snapshots, snapshots } from './snapshots.ts'
import { type Spares, spares } from './spares.ts'

/** Everything Forkpoint remembers. Several processes may have the same home open. */
export interface Store extends Disposable, AsyncDisposable {
  readonly home: string
  readonly environments: Environments
  readonly snapshots: Snapshots
  readonly journal: Journal
  readonly spares: Spares
  readonly leases: Leases
  /** All the changes of `work`, or none. It must not wait: the whole store is locked meanwhile. */
  transaction<T>(work: () => T): T
  /** Gives up the leases taken through this store, too. */
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
      held.releaseAll()
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
    transaction: db.transaction,
    close,
    [Symbol.dispose]: close,
    [Symbol.asyncDispose]: async () => close(),
  }
}

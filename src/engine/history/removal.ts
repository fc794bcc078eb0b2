import type { Input } from '../../api/contract/contract.ts'
import { ConflictError } from '../../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import { lineageOf } from './lineage.ts'
import type { History, PlannedSnapshot } from './retention.ts'

export type RemovalOptions = Omit<Input<'snapshot.remove'>, 'references'>

/** The order in which these snapshots can be removed. Throws if something else needs one. */
export function planRemoval(
  history: History,
  wanted: readonly SnapshotId[],
  options: RemovalOptions = {},
): SnapshotId[] {
  const lineage = lineageOf(history.snapshots)
  const below = wanted.flatMap((id) => lineage.descendantsOf(id))
  const going = new Set(wanted)
  if (options.cascade === true) for (const { id } of below) going.add(id)
  const users = usersOf(history, going)
  if (users.length > 0) throw stillNeeded(history, wanted, users, options)
  return lineage
    .leavesFirst()
    .map(({ id }) => id)
    .filter((id) => going.has(id))
}

interface User {
  readonly kind: 'environment' | 'snapshot' | 'operation'
  readonly id: EnvironmentId | SnapshotId
  readonly name: string | null
}

/** Everything that needs the content of one of these snapshots and is not being removed itself. */
function usersOf(history: History, going: ReadonlySet<SnapshotId>): User[] {
  const { environments, snapshots, inUse } = history
  const isGoing = (id: SnapshotId) => going.has(id)
  const isBusy = ({ id, status }: PlannedSnapshot) =>
    going.has(id) && (inUse.has(id) || status === 'writing')
  return [
    ...environments
      .filter(({ head, needs }) => needs.some(isGoing) || (head !== null && going.has(head)))
      .map(({ id, name }): User => ({ kind: 'environment', id, name })),
    ...snapshots
      .filter(({ id }) => !going.has(id) && history.needsOf(id).some(isGoing))
      .map(({ id, name }): User => ({ kind: 'snapshot', id, name })),
    ...snapshots.filter(isBusy).map(({ id, name }): User => ({ kind: 'operation', id, name })),
  ]
}

function stillNeeded(
  { snapshots }: History,
  wanted: readonly SnapshotId[],
  users: readonly User[],
  options: RemovalOptions,
): ConflictError {
  const names = snapshots.filter(({ id }) => wanted.includes(id)).map(({ id, name }) => name ?? id)
  const what = names.length === 1 ? `snapshot ${names[0]} is` : `snapshots ${names.join(', ')} are`
  const by = users.map(({ kind, id, name }) =>
    kind === 'operation' ? `an operation on ${name ?? id}` : `${kind} ${name ?? id}`,
  )
  return new ConflictError(`${what} still needed by ${by.join(', ')}`, {
    remedy: remedyOf(users, options),
    detail: { snapshots: wanted, users },
  })
}

function remedyOf(users: readonly User[], { cascade = false }: RemovalOptions): string {
  const environments = users.filter(({ kind }) => kind === 'environment')
  if (environments.length > 0) {
    const names = environments.map(({ id, name }) => name ?? id).join(' ')
    return `remove those environments first with \`forkpoint rm ${names}\`, or restore another snapshot in them`
  }
  if (users.some(({ kind }) => kind === 'operation')) return 'try again when that operation is done'
  return cascade ? 'try again' : 'add --cascade to remove those snapshots too'
}

import type { SnapshotOptions } from '../../api/handles/environment.ts'
import { checked, options as optionsOf } from '../../api/inputs/checked.ts'
import { snapshot as snapshotInputs } from '../../api/inputs/environment-inputs.ts'
import { ConflictError, InvalidInputError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import { quote } from '../../model/text/quote.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import { costModelOf } from '../bench/operation-log.ts'
import type { Branch } from '../branch.ts'
import type { DecisionFacts, SnapshotKind } from '../decide/decider.ts'
import { whyPhysical } from '../decide/forced.ts'
import { inLockstep } from '../hooks/lockstep.ts'
import { replayMsOf } from '../replay/logged-command.ts'
import type { Session } from '../session.ts'
import { loadTree } from '../session.ts'
import { isVirtualId, label, labelsOf, newVirtualId } from '../tree/labels.ts'
import type { ManagedSnapshot, VirtualSnapshot } from '../tree/nodes.ts'
import { planOf, type SnapshotTree } from '../tree/tree.ts'

const { name, message, mode } = snapshotInputs
const takeInput = optionsOf({ name, message, mode })

export type TakeOptions = Pick<SnapshotOptions, 'name' | 'message' | 'mode'>

/** A snapshot that was taken. */
export interface Taken {
  readonly id: string
  readonly kind: SnapshotKind
  /** why it had to be physical, whatever the decider would have said; null: it did not */
  readonly forced: string | null
}

/** Takes a snapshot of the kind that the decider chooses, if it has a choice. */
export async function takeSnapshot(
  session: Session,
  branch: Branch,
  given: TakeOptions,
): Promise<Taken> {
  const options = checked('snapshot', takeInput, given)
  const seen = branch.changes
  const tree = await loadTree(session)
  requireFree(tree, options.name)
  const at = tree.nodes.find(({ id }) => id === branch.position)
  const forced =
    options.mode === undefined ? await whyForced(session, branch, at) : 'a mode was given'
  const kind =
    forced === null && at !== undefined
      ? checkKind(await session.decider(factsOf(session, branch, tree, at)))
      : 'physical'
  if (kind === 'physical' || at === undefined) {
    return { id: await takePhysical(session, branch, options), kind: 'physical', forced }
  }
  const id = await takeVirtual(session, branch, at, options)
  if (id === null) {
    const why = 'the commands are too long to be stored'
    return { id: await takePhysical(session, branch, options), kind: 'physical', forced: why }
  }
  branch.moveTo(id, branch.head, seen)
  return { id, kind: 'virtual', forced: null }
}

async function whyForced(
  { hooks }: Session,
  branch: Branch,
  at: ManagedSnapshot | undefined,
): Promise<string | null> {
  const { environment } = branch
  const [info, terminals, commands] = await Promise.all([
    environment.info(),
    environment.terminals(),
    environment.commands(),
  ])
  return whyPhysical({
    hasBase: at !== undefined,
    unlogged: branch.unlogged ?? branch.lasting,
    isWhereWeLeftIt: info.head === branch.head,
    terminals: terminals.length,
    running: commands.filter(({ running }) => running).length,
    hooks: hooks.length,
  })
}

function factsOf(
  { log }: Session,
  branch: Branch,
  tree: SnapshotTree,
  at: ManagedSnapshot,
): DecisionFacts {
  const { commands } = planOf(tree, at)
  return {
    branch: branch.name,
    commands: branch.log.length,
    virtualDepth: depthOf(tree, at),
    replayMs: replayMsOf([...commands, ...branch.log]),
    measured: costModelOf(log.entries),
  }
}

function depthOf(tree: SnapshotTree, at: ManagedSnapshot): number {
  let depth = 0
  let node: ManagedSnapshot | undefined = at
  while (node?.kind === 'virtual') {
    const { parent }: VirtualSnapshot = node
    depth += 1
    node = tree.nodes.find(({ id }) => id === parent)
  }
  return depth
}

/** Writes the commands since the last snapshot to the store; null if they are too long for it. */
async function takeVirtual(
  { fp }: Session,
  branch: Branch,
  at: ManagedSnapshot,
  { name, message = '' }: TakeOptions,
): Promise<string | null> {
  const on = at.kind === 'physical' ? at.id : at.on
  const node: Omit<VirtualSnapshot, 'bytes'> = {
    kind: 'virtual',
    id: newVirtualId(),
    name: name ?? null,
    message,
    parent: at.id,
    on,
    commands: branch.log,
    createdAt: Date.now(),
  }
  const labels = labelsOf(node)
  if (labels === null) return null
  await (await fp.snapshot(on)).label(labels)
  return node.id
}

export async function takePhysical(
  { fp, id: session, hooks }: Session,
  branch: Branch,
  { name, message, mode }: TakeOptions = {},
): Promise<SnapshotId> {
  const { environment, position, changes } = branch
  const labels: Record<string, string> = { [label.session]: session }
  // The store only knows the physical one above.
  if (position !== null && isVirtualId(position)) labels[label.parent] = position
  const options = { ...withoutUndefined({ name, message, mode }), labels }
  const id = await inLockstep(hooks, {
    facts: { operation: 'snapshot', session, branch: branch.name, environment: environment.id },
    work: async () => {
      const { id } = await environment.snapshot(options)
      // A snapshot of only files may leave the head where it was.
      branch.head = (await environment.info()).head
      return id
    },
    learned: (snapshot) => ({ snapshot }),
    // The environment already continues from it, so it stays; but nobody can return to half a state.
    undo: async (snapshot) => {
      await (await fp.snapshot(snapshot)).label({ [label.half]: 'a hook failed' })
    },
  })
  branch.moveTo(id, branch.head, changes)
  if (branch.head !== id) branch.changed('the last snapshot has only files')
  return id
}

/** A decider may be the caller's own function. */
function checkKind(given: unknown): SnapshotKind {
  if (given === 'physical' || given === 'virtual') return given
  throw new InvalidInputError(`the decider answered ${quote(given)}`, {
    remedy: 'return "physical" or "virtual"',
  })
}

/** The store does not know the names of virtual snapshots. */
function requireFree({ nodes }: SnapshotTree, name: string | undefined): void {
  const isTaken = nodes.some((node) => node.name === name && name !== undefined)
  if (!isTaken) return
  throw new ConflictError(`there is already a snapshot called ${name}`, {
    remedy: 'choose another name',
  })
}

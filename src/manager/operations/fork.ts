import type { Environment } from '../../api/handles/environment.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { BackendError, ConflictError, InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { parseName } from '../../model/values/names.ts'
import { Branch, mainBranch } from '../branch.ts'
import { inLockstep } from '../hooks/lockstep.ts'
import type { Session } from '../session.ts'
import { label } from '../tree/labels.ts'
import type { ManagedSnapshot } from '../tree/nodes.ts'

/** Makes a branch of this name, or one for each; all or none. */
export async function forkInto(
  session: Session,
  node: ManagedSnapshot,
  from: Snapshot,
  names: readonly string[],
): Promise<Branch[]> {
  const made = await inLockstep(session.hooks, {
    facts: {
      operation: 'fork',
      session: session.id,
      branch: '',
      environment: '',
      snapshot: node.id,
      branches: names,
    },
    work: () => forkAll(session, from, names),
    undo: removeAll,
  })
  return made.map((environment, index) => {
    const branch = new Branch(names[index] ?? environment.id, environment, node.id)
    session.branches.set(branch.name, branch)
    return branch
  })
}

async function forkAll(
  { id }: Session,
  from: Snapshot,
  names: readonly string[],
): Promise<Environment[]> {
  const outcomes = await Promise.allSettled(
    names.map((name) => forkOne(from, { [label.session]: id, [label.branch]: name })),
  )
  const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = outcomes.find((each) => each.status === 'rejected')
  if (failed === undefined) return made
  await removeAll(made)
  throw failed.reason
}

async function forkOne(from: Snapshot, labels: Record<string, string>): Promise<Environment> {
  const [environment] = await from.fork(1, { labels, atomic: true })
  if (environment !== undefined) return environment
  throw new BackendError(`forking snapshot ${from.id} reported nothing`, {
    remedy: 'run `forkpoint doctor`',
  })
}

async function removeAll(environments: readonly Environment[]): Promise<void> {
  await Promise.all(environments.map((environment) => environment.remove({ force: true })))
}

/** The names of new branches: those that were asked for, or the next free ones. */
export function namesFor(
  taken: Iterable<string>,
  count: number,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const known = new Set<string>([...taken, mainBranch])
  if (wanted !== undefined) return checkNames(known, count, wanted)
  const names: string[] = []
  for (let number = 1; names.length < count; number += 1) {
    const name = `branch-${number}`
    if (!known.has(name)) names.push(name)
  }
  return names
}

function checkNames(
  known: ReadonlySet<string>,
  count: number,
  wanted: readonly string[],
): readonly string[] {
  if (count !== 1 && count !== wanted.length) {
    throw new InvalidInputError(`${count} branches, but ${wanted.length} names`, {
      remedy: 'give one name for each branch, or none',
    })
  }
  const names = wanted.map(parseName)
  const double = names.find((name, index) => known.has(name) || names.indexOf(name) !== index)
  if (double === undefined) return names
  throw new ConflictError(`there is already a branch ${quote(double)}`, {
    remedy: 'choose another name',
  })
}

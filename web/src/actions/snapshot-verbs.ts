import type { Client } from 'forkpoint/client'
import { descendantsOf, environmentsOf, nameOf, type SnapshotNode } from '../forest/forest.ts'
import { forkFields, forkOutcome, restored } from './environment-verbs.ts'
import type { Question, Target, Verb } from './verb.ts'

type SnapshotTarget = Target<SnapshotNode>

function verb(
  about: Pick<Verb, 'id' | 'title' | 'key'>,
  isFor: (target: SnapshotTarget) => boolean,
  ask: (target: SnapshotTarget) => Question,
): Verb {
  return {
    ...about,
    scope: 'branch',
    applies: (target) => target !== null && isSnapshot(target) && isFor(target),
    ask: (target) => {
      if (target === null || !isSnapshot(target)) throw new Error(`${about.id} needs a snapshot`)
      return ask(target)
    },
  }
}

function isSnapshot(target: Target): target is SnapshotTarget {
  return target.node.kind === 'snapshot'
}

const isReady = ({ node }: SnapshotTarget) => node.status === 'ready'

const fork = verb({ id: 'fork-snapshot', title: 'Fork', key: 'f' }, isReady, ({ node }) => ({
  title: `Fork ${nameOf(node)}`,
  says: 'Each fork continues from this snapshot, independent of all others.',
  tone: 'main',
  confirm: 'Fork',
  fields: forkFields,
  run: async (client, values) => {
    const made = await client.call('snapshot.fork', {
      id: node.id,
      count: Number(values.count),
      ...(values.name && { name: values.name }),
    })
    return forkOutcome(client, made)
  },
}))

const restoreHere = verb(
  { id: 'restore-here', title: 'Restore an environment to it', key: 'r' },
  (target) => isReady(target) && restorable(target).length > 0,
  (target) => {
    const { node, forest } = target
    const choices = restorable(target)
    const owner = choices.find(({ id }) => id === node.environmentId)
    return {
      title: `Restore to ${nameOf(node)}`,
      says: 'The environment becomes what this snapshot holds, in place. A snapshot of what it is now is taken first, so that this can be undone.',
      tone: 'main',
      confirm: 'Restore',
      fields: [
        {
          name: 'environment',
          label: 'Environment',
          kind: 'choice',
          initial: (owner ?? choices[0])?.id ?? '',
          options: choices.map((each) => [each.id, nameOf(each)]),
        },
      ],
      run: async (client, { environment }) => {
        const chosen = choices.find(({ id }) => id === environment)
        if (chosen === undefined) throw new Error('choose an environment')
        return await restored(client, chosen, node.id, forest)
      },
    }
  },
)

function restorable({ forest }: SnapshotTarget) {
  return environmentsOf(forest).filter(({ status }) => status === 'running' || status === 'paused')
}

const rename = verb(
  { id: 'rename-snapshot', title: 'Rename', key: 'n' },
  () => true,
  ({ node }) => ({
    title: `Rename ${nameOf(node)}`,
    says: 'Only its name changes.',
    tone: 'main',
    confirm: 'Rename',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', initial: node.name ?? '', isRequired: true },
    ],
    run: async (client, { name = '' }) => {
      await client.call('snapshot.rename', { id: node.id, name })
      return { text: `Renamed to ${name}.` }
    },
  }),
)

const remove = verb(
  { id: 'remove-snapshot', title: 'Remove', key: 'Delete' },
  () => true,
  ({ node, forest }) => {
    const below = descendantsOf(forest, node.id)
    const snapshots = below.filter((id) => forest.nodes.get(id)?.kind === 'snapshot')
    const hasMore = snapshots.length > 0
    return {
      title: `Remove ${nameOf(node)}`,
      says: hasMore
        ? `The snapshots that build on it go with it. ${count(snapshots.length)} below. This cannot be undone. Environments that continue from one of them keep it from being removed.`
        : 'This cannot be undone. An environment that continues from it keeps it from being removed.',
      tone: 'harm',
      confirm: hasMore ? `Remove ${count(snapshots.length + 1)}` : 'Remove',
      fields: [],
      run: (client) => removed(client, node, hasMore ? 'with-those-below' : 'alone'),
    }
  },
)

async function removed(client: Client, node: SnapshotNode, how: 'alone' | 'with-those-below') {
  const cascade = how === 'with-those-below'
  const gone = await client.call('snapshot.remove', { references: [node.id], cascade })
  return { text: `Removed ${gone.length === 1 ? nameOf(node) : count(gone.length)}.` }
}

function count(snapshots: number): string {
  return snapshots === 1 ? '1 snapshot' : `${snapshots} snapshots`
}

export const snapshotVerbs: readonly Verb[] = [fork, restoreHere, rename, remove]

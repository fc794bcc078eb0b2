import type { Client, Output } from 'forkpoint/client'
import {
  ancestorsOf,
  type EnvironmentNode,
  environmentsOf,
  type Forest,
  nameOf,
  type SnapshotNode,
} from '../forest/forest.ts'
import { environmentVerb, isAlive, keep, nameField } from './environment-verb.ts'
import type { Field, Outcome, Verb } from './verb.ts'

const snapshot = environmentVerb(
  { id: 'snapshot', title: 'Take a snapshot', key: 's' },
  ({ node }) => node.status === 'running',
  ({ node }) => ({
    title: `Take a snapshot of ${nameOf(node)}`,
    says: 'Files, processes and terminals are captured together. The environment continues.',
    tone: 'main',
    confirm: 'Take it',
    fields: [
      nameField,
      { name: 'message', label: 'Message', kind: 'text', initial: '' },
      {
        name: 'mode',
        label: 'Captures',
        kind: 'choice',
        initial: 'full',
        options: [
          ['full', 'files, processes and terminals'],
          ['filesystem', 'only files'],
        ],
      },
    ],
    run: async (client, { name = '', message = '', mode }) => {
      const taken = await client.call('environment.snapshot', {
        id: node.id,
        ...(name !== '' && { name }),
        ...(message !== '' && { message }),
        mode: mode === 'filesystem' ? 'filesystem' : 'full',
      })
      return { text: `Took snapshot ${nameOf(taken)}.`, open: taken.id }
    },
  }),
)

const fork = environmentVerb(
  { id: 'fork', title: 'Fork', key: 'f' },
  ({ node }) => node.status !== 'creating' && node.status !== 'removing',
  ({ node }) => ({
    title: `Fork ${nameOf(node)}`,
    says: 'A snapshot is taken, and each fork continues from it, independent of all others.',
    tone: 'main',
    confirm: 'Fork',
    fields: forkFields,
    run: async (client, values) => {
      const count = Number(values.count)
      const made = await client.call('environment.fork', {
        id: node.id,
        count,
        ...(values.name && { name: values.name }),
      })
      return forkOutcome(client, made)
    },
  }),
)

export const forkFields: readonly Field[] = [
  { name: 'count', label: 'How many', kind: 'number', initial: '1', isRequired: true },
  { ...nameField, hint: 'of one fork, or the prefix of several' },
]

/** Says how many were made; taking it back removes them. */
export function forkOutcome(client: Client, made: Output<'environment.fork'>): Outcome {
  const infos = made.flatMap((each) => ('error' in each ? [] : [each]))
  const [first] = infos
  const failed = made.length - infos.length
  const missing = failed === 0 ? '' : ` ${failed} could not be made.`
  return {
    text: `Made ${infos.map(nameOf).join(', ')}.${missing}`,
    undo: async () => {
      for (const { id } of infos) await client.call('environment.remove', { id })
    },
    ...(first !== undefined && { open: first.id }),
  }
}

const restore = environmentVerb(
  { id: 'restore', title: 'Restore', key: 'r' },
  ({ node, forest }) => isAlive(node) && snapshotsFor(forest, node).length > 0,
  ({ node, forest }) => {
    const choices = snapshotsFor(forest, node)
    return {
      title: `Restore ${nameOf(node)}`,
      says: 'It becomes what the snapshot holds, in place. A snapshot of what it is now is taken first, so that this can be undone.',
      tone: 'main',
      confirm: 'Restore',
      fields: [
        {
          name: 'to',
          label: 'Snapshot',
          kind: 'choice',
          initial: choices[0]?.id ?? '',
          options: choices.map((each) => [each.id, described(each)]),
        },
      ],
      run: async (client, { to = '' }) => restored(client, node, to, forest),
    }
  },
)

/** Restores an environment, so that it can be undone. */
export async function restored(
  client: Client,
  node: EnvironmentNode,
  to: string,
  forest: Forest,
): Promise<Outcome> {
  const target = [...forest.nodes.values()].find(({ id }) => id === to)
  const name = target === undefined ? to : nameOf(target)
  const before = await keep(client, node, `before the restore to ${name}`)
  await client.call('environment.restore', { id: node.id, to })
  return {
    text: `Restored ${nameOf(node)} to ${name}.`,
    open: node.id,
    ...(before !== null && {
      undo: async () => {
        await client.call('environment.restore', { id: node.id, to: before.id })
      },
    }),
  }
}

/** Its own line first, newest at the top, then all others. */
function snapshotsFor(forest: Forest, { id }: EnvironmentNode): SnapshotNode[] {
  const line = ancestorsOf(forest, id)
  const isReady = (node: { kind: string; status: string }) =>
    node.kind === 'snapshot' && node.status === 'ready'
  const all = [...forest.nodes.values()].filter((node) => node.kind === 'snapshot')
  const own = line.flatMap((each) => all.filter((node) => node.id === each))
  const others = all.filter((node) => !line.includes(node.id))
  return [...own, ...others].filter(isReady)
}

function described({ name, id, message }: SnapshotNode): string {
  return `${nameOf({ name, id })}${message === '' ? '' : ` — ${message}`}`
}

const promote = environmentVerb(
  { id: 'promote', title: 'Promote into…', key: 'm' },
  ({ node, forest }) =>
    node.status === 'running' && environmentsOf(forest).some((each) => each.id !== node.id),
  ({ node, forest }) => {
    const others = environmentsOf(forest).filter((each) => each.id !== node.id && isAlive(each))
    return {
      title: `Promote ${nameOf(node)}`,
      says: 'Another environment becomes what this one is, in place. A snapshot of what it was is taken first, so that this can be undone.',
      tone: 'main',
      confirm: 'Promote',
      fields: [
        {
          name: 'into',
          label: 'Into',
          kind: 'choice',
          initial: others[0]?.id ?? '',
          options: others.map((each) => [each.id, nameOf(each)]),
        },
      ],
      run: async (client, { into = '' }) => {
        const winner = others.find(({ id }) => id === into)
        if (winner === undefined) throw new Error('choose an environment')
        return await promoted(client, node, winner)
      },
    }
  },
)

/** Makes `into` what `from` is, so that it can be undone. */
export async function promoted(
  client: Client,
  from: EnvironmentNode,
  into: EnvironmentNode,
): Promise<Outcome> {
  const before = await keep(client, into, `before ${nameOf(from)} was promoted`)
  await client.call('environment.promote', { id: into.id, from: from.id })
  return {
    text: `${nameOf(into)} is now what ${nameOf(from)} is.`,
    open: into.id,
    ...(before !== null && {
      undo: async () => {
        await client.call('environment.restore', { id: into.id, to: before.id })
      },
    }),
  }
}

/** Those that branch. */
export const environmentVerbs: readonly Verb[] = [snapshot, fork, restore, promote]

import type { Client, Output } from 'forkpoint/client'
import {
  ancestorsOf,
  type EnvironmentNode,
  environmentsOf,
  type Forest,
  nameOf,
  type SnapshotNode,
} from '../forest/forest.ts'
import type { Field, Outcome, Question, Target, Verb } from './verb.ts'

type EnvironmentTarget = Target<EnvironmentNode>

const isAlive = ({ status }: EnvironmentNode) => status === 'running' || status === 'paused'

/** A verb for environments in some statuses. */
function verb(
  about: Pick<Verb, 'id' | 'title' | 'key' | 'isDirect'>,
  isFor: (target: EnvironmentTarget) => boolean,
  ask: (target: EnvironmentTarget) => Question,
): Verb {
  return {
    ...about,
    scope: 'branch',
    applies: (target) => target !== null && isEnvironment(target) && isFor(target),
    ask: (target) => {
      if (target === null || !isEnvironment(target))
        throw new Error(`${about.id} needs an environment`)
      return ask(target)
    },
  }
}

function isEnvironment(target: Target): target is EnvironmentTarget {
  return target.node.kind === 'environment'
}

const nameField: Field = {
  name: 'name',
  label: 'Name',
  kind: 'text',
  initial: '',
  hint: 'letters, digits and -_. ; may be empty',
}

/** Before something is replaced: what it was can be brought back. */
async function keep(client: Client, { id, status }: EnvironmentNode, message: string) {
  if (status !== 'running') return null
  return await client.call('environment.snapshot', { id, message })
}

const snapshot = verb(
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

const fork = verb(
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

const restore = verb(
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

const promote = verb(
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

const rename = verb(
  { id: 'rename', title: 'Rename', key: 'n' },
  () => true,
  ({ node }) => ({
    title: `Rename ${nameOf(node)}`,
    says: 'It keeps its id and its host name.',
    tone: 'main',
    confirm: 'Rename',
    fields: [{ ...nameField, initial: node.name ?? '', isRequired: true, hint: '' }],
    run: async (client, { name = '' }) => {
      await client.call('environment.rename', { id: node.id, name })
      const { name: before } = node
      return {
        text: `Renamed to ${name}.`,
        ...(before !== null && {
          undo: async () => {
            await client.call('environment.rename', { id: node.id, name: before })
          },
        }),
      }
    },
  }),
)

/** A verb that changes whether it runs, and that another one takes back. */
function switching(
  about: Pick<Verb, 'id' | 'title' | 'key'>,
  isFor: (node: EnvironmentNode) => boolean,
  done: string,
  change: (client: Client, id: EnvironmentNode['id']) => Promise<unknown>,
  back?: (client: Client, id: EnvironmentNode['id']) => Promise<unknown>,
): Verb {
  return verb(
    { ...about, isDirect: true },
    ({ node }) => isFor(node),
    ({ node }) => ({
      title: about.title,
      says: '',
      tone: 'main',
      confirm: about.title,
      fields: [],
      run: async (client) => {
        await change(client, node.id)
        return {
          text: `${nameOf(node)} ${done}.`,
          ...(back !== undefined && {
            undo: async () => {
              await back(client, node.id)
            },
          }),
        }
      },
    }),
  )
}

const resumed = (client: Client, id: EnvironmentNode['id']) =>
  client.call('environment.resume', { id })

const pause = switching(
  { id: 'pause', title: 'Pause', key: 'p' },
  ({ status }) => status === 'running',
  'is paused',
  (client, id) => client.call('environment.pause', { id }),
  resumed,
)

const release = switching(
  { id: 'release', title: 'Release memory' },
  isAlive,
  'is released: a snapshot on disk is all that is kept of it',
  (client, id) => client.call('environment.pause', { id, release: true }),
  resumed,
)

const resume = switching(
  { id: 'resume', title: 'Resume', key: 'p' },
  ({ status }) => status === 'paused' || status === 'released' || status === 'dead',
  'runs again',
  resumed,
)

const remove = verb(
  { id: 'remove', title: 'Remove', key: 'Delete' },
  ({ node }) => node.status !== 'removing',
  ({ node }) => {
    const canKeep = node.status === 'running'
    const check: Field = {
      name: 'keep',
      label: 'Take a snapshot first, so that it can be brought back',
      kind: 'check',
      initial: 'yes',
    }
    return {
      title: `Remove ${nameOf(node)}`,
      says: canKeep
        ? 'Its processes end, and whatever it changed since its last snapshot is lost unless you take one first. Its snapshots stay.'
        : 'Whatever it changed since its last snapshot is lost. Its snapshots stay.',
      tone: 'harm',
      confirm: 'Remove',
      fields: canKeep ? [check] : [],
      run: async (client, values) => {
        const last =
          values.keep === 'yes' ? await keep(client, node, 'before it was removed') : null
        await client.call('environment.remove', { id: node.id, force: last === null })
        const { name } = node
        return {
          text: `Removed ${nameOf(node)}.`,
          ...(last !== null && {
            undo: async () => {
              const id = last.id
              await client.call('snapshot.fork', { id, count: 1, ...(name !== null && { name }) })
            },
          }),
        }
      },
    }
  },
)

export const environmentVerbs: readonly Verb[] = [
  snapshot,
  fork,
  restore,
  promote,
  pause,
  resume,
  release,
  rename,
  remove,
]

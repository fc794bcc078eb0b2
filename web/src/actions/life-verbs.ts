import type { Client } from 'forkpoint/client'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'
import { environmentVerb, isAlive, keep, nameField } from './environment-verb.ts'
import type { Field, Verb } from './verb.ts'

const rename = environmentVerb(
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
  return environmentVerb(
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

const remove = environmentVerb(
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

/** Those that change how one environment lives, and whether. */
export const lifeVerbs: readonly Verb[] = [pause, resume, release, rename, remove]

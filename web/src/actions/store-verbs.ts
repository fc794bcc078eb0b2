import type { Client } from 'forkpoint/client'
import { nameOf } from '../forest/forest.ts'
import { parseSource } from './source.ts'
import type { Values, Verb } from './verb.ts'

const create: Verb = {
  id: 'create',
  title: 'Create an environment',
  key: 'c',
  scope: 'branch',
  applies: () => true,
  ask: () => ({
    title: 'Create an environment',
    says: 'A live computer with files, processes and terminals of its own.',
    tone: 'main',
    confirm: 'Create',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', initial: '', hint: 'may be empty' },
      {
        name: 'from',
        label: 'From',
        kind: 'text',
        initial: 'host',
        hint: 'host, image:REF, dir:PATH, dockerfile:DIR …',
        isRequired: true,
      },
    ],
    run: async (client, { name = '', from = 'host' }) => {
      const made = await client.call('environment.create', {
        from: parseSource(from),
        ...(name !== '' && { name }),
      })
      return {
        text: `Created ${nameOf(made)}.`,
        open: made.id,
        undo: async () => {
          await client.call('environment.remove', { id: made.id, force: true })
        },
      }
    },
  }),
}

const prune: Verb = {
  id: 'prune',
  title: 'Prune snapshots',
  scope: 'admin',
  applies: () => true,
  ask: () => ({
    title: 'Prune snapshots',
    says: 'Removes the snapshots that no rule keeps and nothing needs. This cannot be undone.',
    tone: 'harm',
    confirm: 'Prune',
    fields: [
      {
        name: 'keepLast',
        label: 'Keep this many of each environment',
        kind: 'number',
        initial: '1',
        isRequired: true,
      },
      { name: 'keepNamed', label: 'Keep those with a name', kind: 'check', initial: 'yes' },
    ],
    preview: async (client, values) => {
      const { remove } = await plan(client, values, 'dry')
      const all = await client.call('snapshot.list', {})
      return remove.map((id) => {
        const found = all.find((each) => each.id === id)
        return found === undefined ? id : `${nameOf(found)} ${found.message}`.trim()
      })
    },
    run: async (client, values) => {
      const { remove } = await plan(client, values, 'real')
      return { text: `Removed ${remove.length} snapshots.` }
    },
  }),
}

async function plan(client: Client, values: Values, how: 'dry' | 'real') {
  return await client.call('snapshot.prune', {
    keepLast: Number(values.keepLast),
    keepNamed: values.keepNamed === 'yes',
    dryRun: how === 'dry',
  })
}

export const storeVerbs: readonly Verb[] = [create, prune]

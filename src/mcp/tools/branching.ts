import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { failureText, tool } from '../tool.ts'
import type { Workspace } from '../workspace.ts'
import { environmentFields, shownEnvironment } from './environments.ts'
import * as f from './fields.ts'

const message = z.string().max(1000)

export const snapshot = tool({
  name: 'snapshot',
  title: 'Take a snapshot',
  description:
    'Keeps the whole state of an environment at this moment: files, running processes with their memory, terminals. It takes a fraction of a second and nothing inside notices. Take one whenever you have reached something worth returning to (dependencies installed, bug reproduced, tests green), and before anything risky.',
  effect: 'changes',
  input: {
    environment: f.environment,
    name: f.name.optional(),
    message: message.optional().describe('what is special about this state'),
  },
  output: {
    snapshot: z.string().describe('its id'),
    name: z.nullable(z.string()),
    pauseMs: z.number().describe('how long the environment stood still'),
    lost: z.array(z.string()).describe('what a fork or restore will not have; usually nothing'),
  },
  run: async ({ environment, name, message: why }, { workspace, signal }) => {
    const found = await workspace.environment(environment)
    const taken = await workspace.taking(found, {
      ...(name !== undefined && { name }),
      ...(why !== undefined && { message: why }),
      signal,
    })
    const { id, timing, lost } = taken.lastInfo
    const words = lost.slice(0, 20).map(({ object, what }) => `${object} ${what}`)
    return { snapshot: id, name: taken.name, pauseMs: timing?.pauseMs ?? 0, lost: words }
  },
})

export const restore = tool({
  name: 'restore',
  title: 'Restore a snapshot',
  description:
    'Rewinds an environment to a snapshot, in place: files, processes and terminals are what they were, and everything done since is gone from it. Use it when an attempt went wrong, instead of cleaning up by hand. To keep both states, use fork.',
  effect: 'destroys',
  input: { environment: f.environment, snapshot: f.snapshot },
  output: {
    environment: z.string(),
    snapshot: z.string(),
    before: z
      .nullable(z.string())
      .describe('snapshot of what was there, if this session did not make the environment'),
  },
  run: async ({ environment, snapshot: to }, { workspace, signal }) => {
    const found = await workspace.environment(environment)
    const target = await workspace.snapshot(to)
    const before = await keepForeign(workspace, found)
    workspace.followers.leaveAll(found.id)
    await found.restore(target, { signal })
    return { environment: found.id, snapshot: target.id, before }
  },
})

export const fork = tool({
  name: 'fork',
  title: 'Fork',
  description:
    'Makes new environments that continue from an environment as it is now, or from a snapshot: same files, same running programs, same shells, fully apart from then on. Branch when there are two or more plausible approaches and you cannot tell in advance which one works, when an experiment must not disturb the original, or to run the same test under different conditions. Work in the forks, compare with diff, then promote the best into the original and remove the others.',
  effect: 'changes',
  input: {
    environment: f.environment.optional(),
    snapshot: f.snapshot.optional(),
    count: f.count.default(1),
    name: f.name.optional().describe('name of the fork, or prefix of several: name-1, name-2, …'),
  },
  output: {
    snapshot: z.string().describe('what all of them continue from'),
    forks: z.array(z.object(environmentFields)),
    errors: z.array(z.string()).describe('why others could not be made'),
  },
  run: async ({ environment, snapshot: from, count, name }, { workspace, signal, progress }) => {
    await workspace.requireRoom(count)
    const base = await baseOf(workspace, { environment, snapshot: from }, signal)
    progress(`making ${count} environments from ${base.id}`)
    const errors: string[] = []
    const forks = await forksOf(workspace, base, { count, name, signal }, errors)
    return { snapshot: base.id, forks: forks.map(shownEnvironment), errors }
  },
})

export const promote = tool({
  name: 'promote',
  title: 'Promote',
  description:
    'Makes an environment what another environment or a snapshot is, in place: the last step of a search. Keep the winner by promoting it into the original environment, then remove the forks.',
  effect: 'destroys',
  input: {
    environment: f.environment.describe('the environment to change'),
    from: f.environment.describe('id or name of the environment or snapshot to become'),
  },
  output: {
    environment: z.string(),
    from: z.string(),
    before: z
      .nullable(z.string())
      .describe('snapshot of what was there, if this session did not make the environment'),
  },
  run: async ({ environment, from }, { workspace, signal }) => {
    const into = await workspace.environment(environment)
    const winner = await workspace.find(from)
    const before = await keepForeign(workspace, into)
    workspace.followers.leaveAll(into.id)
    await into.promote(winner, { signal })
    return { environment: into.id, from: winner.id, before }
  },
})

/** Nothing of an environment that others made is lost: what is replaced stays as a snapshot. */
export async function keepForeign(workspace: Workspace, environment: Environment) {
  if (workspace.owns(environment) || workspace.options.removes === 'any') return null
  const message = 'before an MCP session replaced it'
  return (await workspace.taking(environment, { message })).id
}

interface Base {
  readonly environment: string | undefined
  readonly snapshot: string | undefined
}

async function baseOf(workspace: Workspace, of: Base, signal: AbortSignal): Promise<Snapshot> {
  const { environment, snapshot: from } = of
  if ((environment === undefined) === (from === undefined)) {
    throw new InvalidInputError('give an environment or a snapshot', {
      remedy: 'one of them, not both',
    })
  }
  if (from !== undefined) return await workspace.snapshot(from)
  const found = await workspace.environment(environment ?? '')
  return await workspace.taking(found, { signal })
}

interface Wanted {
  readonly count: number
  readonly name?: string | undefined
  readonly signal: AbortSignal
}

export async function forksOf(
  workspace: Workspace,
  base: Snapshot,
  { count, name, signal }: Wanted,
  errors: string[],
): Promise<Environment[]> {
  return await workspace.making(count, async () => {
    const labels = { ...workspace.labels }
    const named = name === undefined ? {} : { name }
    const made = await base.fork(count, { labels, signal, ...named })
    errors.push(...made.errors.map(failureText))
    return made
  })
}

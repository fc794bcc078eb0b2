import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import { environmentStatuses, netModes } from '../../model/environment.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import { tool } from '../tool.ts'
import * as f from './fields.ts'

const mebibyte = 1024 ** 2
const mostListed = 500

export const environmentFields = {
  environment: z.string().describe('its id'),
  name: z.nullable(z.string()),
  status: z.enum(environmentStatuses),
  head: z.nullable(z.string()).describe('the snapshot that it continues from'),
  workdir: z.string(),
  labels: z.record(z.string(), z.string()),
}

export function shownEnvironment({ lastInfo }: Environment) {
  const { id, name, status, head, workdir, labels } = lastInfo
  return { environment: id, name, status, head, workdir, labels: { ...labels } }
}

export const createEnvironment = tool({
  name: 'create_environment',
  title: 'Create an environment',
  description:
    'Creates a live Linux environment: files, processes, terminals, network. Do this once for a task, get it into a useful state (clone, install, reproduce the bug), then use snapshot and fork instead of creating more: a fork costs milliseconds and keeps everything, including running programs.',
  effect: 'changes',
  input: {
    name: f.name.optional(),
    from: z
      .string()
      .max(4096)
      .optional()
      .describe(
        'its files: host (default; a private copy of this machine), dir:PATH, image:REF, dockerfile:DIR, snapshot:ID',
      ),
    net: z
      .enum(netModes)
      .optional()
      .describe('none: loopback only; nat: outgoing connections through the host'),
    workdir: f.path.optional(),
    memoryMiB: z.int().min(16).max(1_000_000).optional(),
    cpus: z.number().min(0.01).max(1000).optional(),
    ttlMs: z.int().min(1000).optional().describe('it is removed after this time'),
  },
  output: environmentFields,
  run: async ({ memoryMiB, cpus, ...wanted }, { workspace, signal, progress }) => {
    progress('creating an environment')
    const memoryBytes = memoryMiB === undefined ? undefined : memoryMiB * mebibyte
    const limits = withoutUndefined({ memoryBytes, cpus })
    // A fork takes its limits from its snapshot.
    const all = Object.keys(limits).length === 0 ? wanted : { ...wanted, limits }
    const made = await workspace.create({ ...withoutUndefined(all), signal })
    return shownEnvironment(made)
  },
})

export const listEnvironments = tool({
  name: 'list_environments',
  title: 'List environments',
  description: 'Lists the environments that this session can reach, oldest first.',
  effect: 'reads',
  input: {},
  output: {
    environments: z.array(
      z.object({
        ...environmentFields,
        own: z.boolean().describe('whether this session made it, and so may remove it'),
      }),
    ),
    total: z.number(),
  },
  run: async (_input, { workspace }) => {
    const all = await workspace.environments()
    const environments = all
      .slice(0, mostListed)
      .map((each) => ({ ...shownEnvironment(each), own: workspace.owns(each) }))
    return { environments, total: all.length }
  },
})

export const remove = tool({
  name: 'remove',
  title: 'Remove',
  description:
    'Removes an environment with everything that runs in it, or a snapshot that nothing builds on. Snapshots of a removed environment stay. Cannot be undone. Only what this session made, unless the server allows more.',
  effect: 'destroys',
  input: { environment: f.environment.optional(), snapshot: f.snapshot.optional() },
  output: { removed: z.array(z.string()) },
  run: async ({ environment, snapshot }, { workspace }) => {
    const removed: string[] = []
    if (environment !== undefined) {
      const found = await workspace.environment(environment)
      workspace.requireRemovable(found)
      await workspace.remove(found)
      removed.push(found.id)
    }
    if (snapshot !== undefined) {
      const found = await workspace.snapshot(snapshot)
      workspace.requireRemovable(found)
      removed.push(...(await found.remove()))
    }
    return { removed }
  },
})

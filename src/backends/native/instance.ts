import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import {
  openAgentSocket,
  readSocketIdentity,
  type SocketIdentity,
} from '../../agent/wire/socket.ts'
import { identify, isAlive, type ProcessIdentity } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { CellNet, Layer } from './cell/cell.ts'
import type { IdRange } from './cell/id-ranges.ts'
import { layerSchema, stored } from './stored.ts'

/** A live cell, as the store keeps it. */
export interface NativeInstance {
  readonly kind: 'native'
  /** which life of the environment this is */
  readonly slot: number
  /** the agent, as the host sees it */
  readonly process: ProcessIdentity
  readonly socket: SocketIdentity
  /** host ids of its processes; absent if it began when all environments shared one range */
  readonly ids?: IdRange
  readonly net: CellNet | null
  readonly layers: readonly Layer[]
  /** `subvolume`: what it writes lies in its own one; absent: in a directory of the data volume */
  readonly files?: 'subvolume'
  /** the limit on what its files take; absent: none */
  readonly disk?: DiskLimit
}

export interface DiskLimit {
  readonly bytes: number
  /** directory in which the kernel shows what it counts for the subvolume */
  readonly counter: string
}

/** Socket identities are 64-bit numbers, which JSON cannot represent. */
const wide = z.pipe(
  z.string().check(z.regex(/^-?\d{1,20}$/)),
  z.transform((text: string) => BigInt(text)),
)

const processSchema = z.object({ pid: z.number(), startTicks: z.number(), bootId: z.string() })

const instanceSchema: z.ZodMiniType<NativeInstance> = z.object({
  kind: z.literal('native'),
  slot: z.number(),
  process: processSchema,
  socket: z.object({ dev: wide, ino: wide, birthtimeNs: wide }),
  ids: z.exactOptional(z.object({ base: z.number(), count: z.number() })),
  net: z.nullable(
    z.object({
      interface: z.string(),
      address: z.string(),
      gateway: z.string(),
      prefix: z.number(),
    }),
  ),
  layers: z.array(layerSchema),
  files: z.exactOptional(z.literal('subvolume')),
  disk: z.exactOptional(z.object({ bytes: z.number(), counter: z.string() })),
})

/** The fields that are read from many instances at once: parsing a whole one takes 30 µs (measured). */
const livingSchema = z.object({ process: processSchema })
const rangedSchema = z.object({ ids: z.optional(z.unknown()) })

const agentStartMs = 10_000

/** The instance as JSON. */
export function toRecord(instance: NativeInstance): Instance {
  const { dev, ino, birthtimeNs } = instance.socket
  return {
    kind: 'native',
    slot: instance.slot,
    process: { ...instance.process },
    socket: { dev: String(dev), ino: String(ino), birthtimeNs: String(birthtimeNs) },
    ...(instance.ids && { ids: { ...instance.ids } }),
    net: instance.net && { ...instance.net },
    layers: instance.layers.map((layer) => ({ ...layer })),
    ...(instance.files && { files: instance.files }),
    ...(instance.disk && { disk: { ...instance.disk } }),
  }
}

/** An operation reads the same record several times. */
const parsed = new WeakMap<Instance, NativeInstance>()

export function fromRecord(record: Instance): NativeInstance {
  const instance = parsed.get(record) ?? stored('instance', instanceSchema, record)
  parsed.set(record, instance)
  return instance
}

/** Whether its processes have their own ids, as all that this version starts have. */
export function hasOwnIds(record: Instance): boolean {
  return stored('instance', rangedSchema, record).ids !== undefined
}

/** The agents of instances that were asked about before: every command asks whether one is alive. */
const agents = new WeakMap<Instance, ProcessIdentity>()

/** Whether the agent of a stored instance runs. */
export function isLive(record: Instance): boolean {
  const agent = agents.get(record) ?? stored('instance', livingSchema, record).process
  agents.set(record, agent)
  return isAlive(agent)
}

/** Waits until the agent listens. Nothing else runs inside yet, so the socket must be the agent's. */
export async function agentListening(
  path: string,
  pid: number,
): Promise<Pick<NativeInstance, 'process' | 'socket'>> {
  const process = identify(pid)
  const deadline = Date.now() + agentStartMs
  for (;;) {
    try {
      const socket = await openAgentSocket(path, null)
      socket.destroy()
      if (process) return { process, socket: await readSocketIdentity(path) }
    } catch (error) {
      if (process && isAlive(process) && Date.now() < deadline) {
        await sleep(1)
        continue
      }
      throw new BackendError('the agent of a new environment did not start', {
        remedy: 'run `forkpoint doctor`, which starts one step by step',
        cause: error,
      })
    }
  }
}

import * as z from 'zod/mini'
import type { ProcessIdentity } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { type Captured, capturable, type SnapshotRecord } from '../../model/snapshot.ts'
import type { SnapshotImage } from '../backend.ts'

/** What the root of a sandbox is, under what was written inside. */
export type Root =
  | { readonly kind: 'rootfs'; readonly path: string; readonly hidden?: readonly string[] }
  /** the host's files; `mask` is the layer that hides its secrets */
  | { readonly kind: 'host'; readonly mask: string }
  /** the host's files without root: directories and symlinks of `/`, and the paths that are hidden in them */
  | {
      readonly kind: 'bound'
      readonly directories: readonly string[]
      readonly links: readonly { readonly name: string; readonly target: string }[]
      readonly hidden: readonly string[]
    }
  /** the layers of an image, topmost first */
  | { readonly kind: 'image'; readonly layers: readonly string[] }

/** What a copy of a container that Forkpoint did not start needs. */
export interface Adopted {
  /** its OCI description, as JSON */
  readonly spec: string
  /** where runsc keeps what is written inside */
  readonly writes: 'memory' | 'file'
}

/** The files that a snapshot can only be restored over. */
export interface Base {
  readonly root: Root
  /** path of a copy of the agent */
  readonly agent: string
  /** absent: its first process is our agent */
  readonly adopted?: Adopted
}

/** A running sandbox, as the store keeps it. */
export interface GvisorInstance extends Base {
  readonly kind: 'gvisor'
  readonly slot: number
  /** runsc's sandbox, in which everything inside runs */
  readonly process: ProcessIdentity
}

/** A snapshot, as the store keeps it. */
export interface GvisorImage extends Base {
  readonly kind: 'gvisor'
  readonly captured: readonly Captured[]
}

/** The shared files among them. */
export function usesOf({ root, agent }: Base): string[] {
  return root.kind === 'host' ? [agent, root.mask] : [agent]
}

const rootSchema: z.ZodMiniType<Root> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('rootfs'),
    path: z.string(),
    hidden: z.exactOptional(z.array(z.string())),
  }),
  z.object({ kind: z.literal('host'), mask: z.string() }),
  z.object({ kind: z.literal('image'), layers: z.array(z.string()) }),
  z.object({
    kind: z.literal('bound'),
    directories: z.array(z.string()),
    links: z.array(z.object({ name: z.string(), target: z.string() })),
    hidden: z.array(z.string()),
  }),
])

const adoptedSchema: z.ZodMiniType<Adopted> = z.object({
  spec: z.string(),
  writes: z.enum(['memory', 'file']),
})

const instanceSchema: z.ZodMiniType<GvisorInstance> = z.object({
  kind: z.literal('gvisor'),
  slot: z.number(),
  process: z.object({ pid: z.number(), startTicks: z.number(), bootId: z.string() }),
  root: rootSchema,
  agent: z.string(),
  adopted: z.exactOptional(adoptedSchema),
})

const imageSchema: z.ZodMiniType<GvisorImage> = z.object({
  kind: z.literal('gvisor'),
  captured: z.array(z.enum(capturable)),
  root: rootSchema,
  agent: z.string(),
  adopted: z.exactOptional(adoptedSchema),
})

export function toRecord({ process, root, adopted, ...rest }: GvisorInstance): Instance {
  const kept = adopted && { adopted: { ...adopted } }
  return { ...rest, process: { ...process }, root: { ...root }, ...kept }
}

export function fromRecord(record: Instance): GvisorInstance {
  return stored('instance', instanceSchema, record)
}

export function toImageRecord({
  captured,
  root,
  agent,
  adopted,
}: Omit<GvisorImage, 'kind'>): SnapshotImage {
  const kept = adopted && { adopted: { ...adopted } }
  return { kind: 'gvisor', captured: [...captured], root: { ...root }, agent, ...kept }
}

export function imageOf({ image }: Pick<SnapshotRecord, 'image'>): GvisorImage {
  return stored('image', imageSchema, image)
}

function stored<T>(what: string, schema: z.ZodMiniType<T>, record: unknown): T {
  const parsed = schema.safeParse(record)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new BackendError(`the store has an unreadable ${what} of the gvisor backend`, {
    remedy: 'use the version of Forkpoint that wrote it, or remove it',
    detail: { where: issue?.path.join('.') ?? '', why: issue?.message ?? 'unknown' },
  })
}

const rootedSchema = z.object({ root: z.exactOptional(rootSchema) })

/** The layers of an image that a life or a snapshot is over; one that is being taken has none yet. */
export function layersIn(record: SnapshotImage): readonly string[] {
  const { root } = stored('image', rootedSchema, record)
  return root?.kind === 'image' ? root.layers : []
}

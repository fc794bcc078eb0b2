import * as z from 'zod/mini'
import { environmentStatuses } from '../../../model/environment.ts'
import { causes, idleActions } from '../../../model/policy.ts'
import { capturable, snapshotMakers, snapshotStatuses } from '../../../model/snapshot.ts'
import * as d from './data.ts'

const environmentNode = z.object({
  kind: z.literal('environment'),
  id: d.environmentId,
  name: z.nullable(z.string()),
  status: z.enum(environmentStatuses),
  createdAt: d.time,
  labels: d.textMap,
})

/** An environment in the tree, which continues from the snapshot above it. */
export type EnvironmentNode = d.Data<typeof environmentNode>

const snapshotNode = z.object({
  kind: z.literal('snapshot'),
  id: d.snapshotId,
  name: z.nullable(z.string()),
  status: z.enum(snapshotStatuses),
  createdAt: d.time,
  durable: z.boolean(),
  message: z.string(),
  captured: z.array(z.enum(capturable)),
  environmentId: d.environmentId,
  /** who asked for it: a caller, or an operation that needed one */
  by: z.enum(snapshotMakers),
  /** what it added: changed files and memory; null until its files are counted */
  ownBytes: z.nullable(d.bytes),
  labels: d.textMap,
})

export type SnapshotNode = d.Data<typeof snapshotNode> & {
  /** the environments that continue from here, then the snapshots; each oldest first */
  readonly children: readonly TreeNode[]
}

export type TreeNode = SnapshotNode | EnvironmentNode

/** A node, with the index of its parent in the same list; null: a root. */
export const flatNode = z.object({
  above: z.nullable(z.number()),
  node: z.discriminatedUnion('kind', [environmentNode, snapshotNode]),
})

export type FlatNode = d.Data<typeof flatNode>

const snapshotUsage = z.object({
  id: d.snapshotId,
  name: z.nullable(z.string()),
  status: z.enum(snapshotStatuses),
  /** changed files in its own layer */
  filesBytes: z.nullable(d.bytes),
  /** memory and other state of its processes that it wrote */
  imagesBytes: d.bytes,
  /** files of this and earlier snapshots, squashed so that later ones have fewer layers */
  squashedBytes: d.bytes,
  /** everything that it holds: files, squashed files and images */
  ownBytes: z.nullable(d.bytes),
  /** files and memory that it uses but other snapshots hold or made */
  sharedBytes: z.nullable(d.bytes),
  /** what nothing else uses; its files are not unique while anything builds on them */
  uniqueBytes: z.nullable(d.bytes),
})

/** The usage of one snapshot. A number is null until its files are counted. */
export type SnapshotUsage = d.Data<typeof snapshotUsage>

const environmentUsage = z.object({
  id: d.environmentId,
  name: z.nullable(z.string()),
  status: z.enum(environmentStatuses),
  /** files changed since its head; null if it has no processes */
  diskBytes: z.nullable(d.bytes),
  /** its own memory, without what it maps from snapshots */
  memoryBytes: z.nullable(d.bytes),
})

/** The usage of one environment, without its snapshots. */
export type EnvironmentUsage = d.Data<typeof environmentUsage>

export const cachedImage = z.object({
  /** digest of its configuration */
  id: z.string(),
  /** the sources that it came from */
  names: z.array(z.string()),
  /** unpacked in the home; a layer that several images have counts for each */
  bytes: d.bytes,
  /** used where Docker or Podman keeps it, at our request */
  heldBytes: d.bytes,
})

/** A container image that environments were made from, or will be. */
export type CachedImage = d.Data<typeof cachedImage>

export const usage = z.object({
  snapshots: z.array(snapshotUsage),
  environments: z.array(environmentUsage),
  /** the container images of the home */
  containerImages: z.array(cachedImage),
  totals: z.object({
    /** everything that snapshots hold on disk, as far as it is counted */
    snapshotBytes: d.bytes,
    /** files that environments changed since their heads */
    environmentBytes: d.bytes,
    /** of environments and spares */
    memoryBytes: d.bytes,
    sparesBytes: d.bytes,
    /** container images in the home */
    containerImageBytes: d.bytes,
    /** snapshots whose files are not counted yet */
    uncounted: z.number(),
  }),
})

export type Usage = d.Data<typeof usage>

export const spare = z.object({
  kind: z.enum(['restore', 'fork']),
  snapshot: d.snapshotId,
  /** the environment it would continue; for a fork, the id of the new one */
  environment: d.environmentId,
})

/** A branch that was prepared before anybody asked for it. */
export type Spare = d.Data<typeof spare>

export const runningOperation = z.object({
  id: d.operationId,
  /** `create`, `snapshot`, `restore`, `fork`, …, as in `forkpoint log` */
  kind: z.string(),
  environment: z.nullable(d.environmentId),
  startedAt: d.time,
  /** of a snapshot: what it has written of its processes so far */
  writtenBytes: z.exactOptional(d.bytes),
  /** the memory that they have, which is the most that it can write */
  mostBytes: z.exactOptional(d.bytes),
})

/** An operation that has not ended. */
export type RunningOperation = d.Data<typeof runningOperation>

export const failureLog = z.object({
  name: z.string(),
  /** what failed */
  doing: z.enum(['dump', 'restore']),
  at: d.time,
  /** on the machine of the environments */
  path: z.string(),
  /** its end, if it is long */
  text: z.string(),
})

/** What CRIU wrote when it could not dump or restore processes. */
export type FailureLog = d.Data<typeof failureLog>

export const event = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('operation'),
    /** later events have larger ones; `events({ after })` continues from it */
    id: z.number(),
    /** `create`, `snapshot`, `restore`, `fork`, …, as in `forkpoint log` */
    kind: z.string(),
    environment: z.nullable(d.environmentId),
    state: z.enum(['done', 'failed']),
    at: d.time,
    /** what started it, if no caller did */
    cause: z.exactOptional(z.enum(causes)),
  }),
  /** a policy will do something to an environment, or could not and tries again; `operation` says that it has */
  z.object({
    type: z.literal('policy'),
    id: z.number(),
    environment: d.environmentId,
    action: z.enum(idleActions),
    cause: z.enum(causes),
    state: z.enum(['announced', 'failed']),
    /** when it falls due */
    due: d.time,
    at: d.time,
  }),
  /** the snapshot is on disk */
  z.object({
    type: z.literal('durable'),
    id: z.number(),
    snapshot: d.snapshotId,
    at: d.time,
  }),
])

/** Something that finished, in the foreground or in the background. */
export type ForkpointEvent = d.Data<typeof event>

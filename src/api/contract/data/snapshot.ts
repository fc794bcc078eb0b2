import * as z from 'zod/mini'
import { memoryModes } from '../../../model/environment.ts'
import {
  capturable,
  copiedKinds,
  dumpModes,
  proofs,
  snapshotMakers,
  snapshotStatuses,
} from '../../../model/snapshot.ts'
import * as d from './data.ts'

const sizes = z.object({
  /** size of the files in this snapshot's own layer; null until they are counted */
  filesBytes: z.nullable(d.bytes),
  /** size of the process images */
  imagesBytes: d.bytes,
  /** sizes of the squashed layers that end with this snapshot, by name */
  squashed: z.exactOptional(z.record(z.string(), d.bytes)),
})

export type SnapshotSizes = d.Data<typeof sizes>

const timing = z.object({
  /** the longest time during which no process inside ran */
  pauseMs: z.number(),
  totalMs: z.number(),
  phases: d.phases,
})

export type SnapshotTiming = d.Data<typeof timing>

/** Memory of a process that each environment from the snapshot gets a copy of. */
const copiedMemory = z.object({
  /** `heap`: what brk extends; `mapping`: what was mapped without a file; `file`: changed pages of a file */
  what: z.enum(copiedKinds),
  bytes: d.bytes,
  why: z.string(),
})

export type CopiedMemory = d.Data<typeof copiedMemory>

const processMemory = z.object({
  /** as seen inside */
  pid: z.number(),
  command: z.string(),
  shared: z.boolean(),
  sharedBytes: d.bytes,
  copiedBytes: d.bytes,
  /** the reason for the verdict */
  why: z.string(),
  /** the most first; absent below 1 MiB, and in snapshots of earlier versions */
  copied: z.exactOptional(z.array(copiedMemory)),
})

export type ProcessMemory = d.Data<typeof processMemory>

/** How much memory was written for a snapshot, and why. */
const memoryTracking = z.object({
  /**
   * what was written in the stop. `written`: pages that were written since the snapshot before, because
   * the kernel noted them. `remapped`: the same, because processes map all others from earlier snapshots.
   * `live`: those that were written while the others were copied, just before. `full`: all pages
   */
  mode: z.enum(dumpModes),
  why: z.string(),
})

export type MemoryTracking = d.Data<typeof memoryTracking>

/** How the processes of a snapshot get their memory. */
export const snapshotMemory = z.object({
  mode: z.enum(memoryModes),
  /** mapped from pages that all environments from this snapshot share */
  sharedBytes: d.bytes,
  /** copied for each of them */
  copiedBytes: d.bytes,
  /** the most memory that one environment from this snapshot takes at once; absent in earlier versions */
  neededBytes: z.exactOptional(d.bytes),
  /** of these, what processes had in common with their parents, and may have again */
  commonBytes: z.exactOptional(d.bytes),
  processes: z.array(processMemory),
  /** absent in snapshots of earlier versions */
  tracking: z.exactOptional(memoryTracking),
})

export type SnapshotMemory = d.Data<typeof snapshotMemory>

const failure = z.object({
  message: z.string(),
  remedy: z.exactOptional(z.string()),
  /** CRIU's log, if it is still there */
  logPath: z.exactOptional(z.string()),
})

/** Why nothing can be made from a snapshot. */
export type SnapshotFailure = d.Data<typeof failure>

export const lost = z.object({
  /** whose it is, by its number inside; null: nobody's */
  process: z.nullable(z.object({ pid: z.number(), command: z.string() })),
  object: z.string(),
  /** what happens to it in a copy */
  what: z.string(),
  /** what a program there will see */
  consequence: z.string(),
})

/** Something that a copy made from a snapshot cannot keep. */
export type Lost = d.Data<typeof lost>

export const snapshotInfo = z.object({
  kind: z.literal('snapshot'),
  id: d.snapshotId,
  name: z.nullable(z.string()),
  /** the environment that it is a snapshot of */
  environmentId: d.environmentId,
  parent: z.nullable(d.snapshotId),
  /** who asked for it: a caller, or an operation that needed one */
  by: z.enum(snapshotMakers),
  backend: z.string(),
  status: z.enum(snapshotStatuses),
  /** `proven` once something was made from it; a snapshot without processes always is */
  proof: z.enum(proofs),
  /** absent unless the proof failed */
  failure: z.exactOptional(failure),
  /** true once it is flushed to disk */
  durable: z.boolean(),
  /** what it really contains */
  captured: z.array(z.enum(capturable)),
  /** `kept`: nothing inside could notice it; `replaced`: a copy of its processes took their place */
  original: z.enum(['kept', 'replaced']),
  message: z.string(),
  labels: d.textMap,
  /** the caller's own data; null if none was given */
  metadata: d.json,
  sizes,
  timing,
  /** absent if it holds no processes */
  memory: z.exactOptional(snapshotMemory),
  /** what environments made from it do not have; empty: they have everything */
  lost: z.array(lost),
  createdAt: d.time,
})

/** What `snapshots` shows. */
export type SnapshotInfo = d.Data<typeof snapshotInfo>

export const compaction = z.object({
  id: d.snapshotId,
  layersBefore: z.number(),
  layersAfter: z.number(),
  /** bytes written */
  bytes: d.bytes,
  /** memory that is now in its own files; 0 if it already was */
  memoryBytes: d.bytes,
})

/** What compacting changed in a snapshot. */
export type Compaction = d.Data<typeof compaction>

const keepReason = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('head'), environment: d.environmentId }),
  z.object({ kind: z.enum(['in-use', 'writing', 'named', 'recent', 'young']) }),
  z.object({ kind: z.literal('base'), snapshot: d.snapshotId }),
])

/** Why a snapshot stays. `base` names a snapshot that builds on it and stays. */
export type KeepReason = d.Data<typeof keepReason>

export const prunePlan = z.object({
  /** each before the one it builds on */
  remove: z.array(d.snapshotId),
  kept: z.array(z.object({ id: d.snapshotId, reason: keepReason })),
})

export type PrunePlan = d.Data<typeof prunePlan>

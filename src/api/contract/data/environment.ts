import * as z from 'zod/mini'
import { allCapabilities } from '../../../model/capabilities.ts'
import { environmentStatuses, memoryModes, netModes } from '../../../model/environment.ts'
import { causes, idleActions, wakeModes } from '../../../model/policy.ts'
import * as d from './data.ts'
import { lost, snapshotMemory } from './snapshot.ts'

const path = z.string()

/** What an environment was made from. Paths are absolute. */
const source = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('host') }),
  z.object({ kind: z.literal('dir'), path }),
  z.object({ kind: z.literal('rootfs'), path }),
  z.object({ kind: z.literal('image'), ref: z.string() }),
  z.object({ kind: z.literal('dockerfile'), dir: path }),
  z.object({ kind: z.literal('oci'), path }),
  z.object({ kind: z.literal('archive'), path }),
  z.object({ kind: z.literal('container'), name: z.string() }),
  /** it ran already, and was adopted by `attach` */
  z.object({ kind: z.literal('attached'), target: z.string() }),
  z.object({ kind: z.literal('snapshot'), id: d.snapshotId }),
])

/** A limit that is absent does not apply. */
const limits = z.object({
  memoryBytes: z.exactOptional(d.bytes),
  /** number of CPUs, fractions allowed */
  cpus: z.exactOptional(z.number()),
  pids: z.exactOptional(z.number()),
  /** space that the files it has written may take */
  diskBytes: z.exactOptional(d.bytes),
  /** bytes per second that it may read from each disk below it */
  ioReadBytes: z.exactOptional(d.bytes),
  /** bytes per second that it may write to each disk below it */
  ioWriteBytes: z.exactOptional(d.bytes),
  /** bytes per second that it may send, and as many that it may receive */
  netBytes: z.exactOptional(d.bytes),
})

const words = z.array(z.string())

const image = z.object({
  /** digest of its configuration */
  id: z.string(),
  /** who runs shells, and whatever else names no user; null: root */
  user: z.nullable(z.string()),
  entrypoint: words,
  command: words,
  /** such as `80/tcp` */
  ports: words,
  volumes: words,
  healthcheck: z.nullable(
    z.object({
      command: words,
      intervalMs: z.nullable(z.number()),
      timeoutMs: z.nullable(z.number()),
      retries: z.nullable(z.number()),
    }),
  ),
})

const policyInfo = z.object({
  /** how long it exists; null: until it is removed */
  ttlMs: z.nullable(z.number()),
  /** what happens when that is over */
  ttlAction: z.enum(idleActions),
  /** null: nothing happens if nobody uses it */
  idle: z.nullable(z.object({ afterMs: z.number(), action: z.enum(idleActions) })),
  /** whether using it brings it back while it sleeps */
  wake: z.enum(wakeModes),
  /** when its time to live ends */
  expiresAt: z.nullable(d.time),
  /** when the idle policy falls due if nobody uses it from now on; null: it does not, in this status */
  idleAt: z.nullable(d.time),
})

export type PolicyInfo = d.Data<typeof policyInfo>

export const environmentInfo = z.object({
  kind: z.literal('environment'),
  id: d.environmentId,
  name: z.nullable(z.string()),
  backend: z.string(),
  status: z.enum(environmentStatuses),
  /** the snapshot it continues from */
  head: z.nullable(d.snapshotId),
  /** identifies the life that runs now; changes with every restore and snapshot; null: none runs */
  life: z.nullable(z.string()),
  /** what can be done with it */
  capabilities: z.array(z.enum(allCapabilities)),
  source,
  limits,
  net: z.object({
    mode: z.enum(netModes),
    /** networks of the host or its neighbours that it may still reach */
    allow: z.array(z.string()),
    /** networks that it does not reach through the host; absent: none */
    denyOut: z.exactOptional(z.array(z.string())),
    /** networks that it reaches although `denyOut` has them; absent: none */
    allowOut: z.exactOptional(z.array(z.string())),
  }),
  /** absent: as the configuration says */
  memory: z.exactOptional(z.enum(memoryModes)),
  /** variables of every shell and process started inside */
  env: d.textMap,
  /** where shells start */
  workdir: path,
  labels: d.textMap,
  /** what happens to it by itself */
  policy: policyInfo,
  /** what its container image says; absent if it was made from something else */
  image: z.exactOptional(image),
  /** words of the program that was started with it, as the command `command`; absent if none was */
  command: z.exactOptional(words),
  /** what it does not have of the snapshot that it was made from, or restored to; empty: nothing is missing */
  lost: z.array(lost),
  /** directories that were copied in, oldest first: where each went inside */
  copies: z.array(z.object({ id: z.string(), path })),
  hostname: z.string(),
  createdAt: d.time,
  /** the time limit of a command that sets none itself; null: no limit */
  execTimeoutMs: z.nullable(z.number()),
})

/** What `ls` shows of an environment. */
export type EnvironmentInfo = d.Data<typeof environmentInfo>

/** The memory of an environment's processes. */
const memoryAccount = z.object({
  /** written by them, or copied for them */
  privateBytes: d.bytes,
  /** mapped from the pages of snapshots, which other environments may map too */
  sharedBytes: d.bytes,
  totalBytes: d.bytes,
})

export type MemoryAccount = d.Data<typeof memoryAccount>

export const instanceStats = z.object({
  /** what counts towards the limit: includes caches, but not what was in memory before */
  memoryBytes: d.bytes,
  memory: memoryAccount,
  /** how everything made from its last snapshot gets its memory; null: it has none, or only of files */
  headMemory: z.nullable(snapshotMemory),
  memoryLimitBytes: z.nullable(d.bytes),
  /** CPU time used since it was made */
  cpuMs: z.number(),
  processes: z.number(),
  processLimit: z.nullable(z.number()),
  /** on which its processes run; null: the backend cannot tell */
  terminals: z.nullable(z.number()),
  /** size of the files changed since it was made */
  diskBytes: d.bytes,
  /** what counts towards the limit: all that it has and that is not in its source; null: no limit */
  diskUsedBytes: z.nullable(d.bytes),
  diskLimitBytes: z.nullable(d.bytes),
  /** bytes per second that it may read from each disk below it; null: no limit, as in the next two */
  ioReadLimitBytes: z.nullable(d.bytes),
  ioWriteLimitBytes: z.nullable(d.bytes),
  /** bytes per second in each direction */
  netLimitBytes: z.nullable(d.bytes),
})

export type InstanceStats = d.Data<typeof instanceStats>

export const logEntry = z.object({
  id: d.operationId,
  /** `create`, `snapshot`, `restore`, `fork`, `pause`, … */
  kind: z.string(),
  /** `rolled_back`: its process was killed, and the next one undid or completed it */
  state: z.enum(['open', 'done', 'failed', 'rolled_back']),
  /** the process that runs or ran it */
  pid: z.number(),
  startedAt: d.time,
  /** null while it runs */
  durationMs: z.nullable(z.number()),
  /** the snapshot it took */
  snapshot: z.nullable(d.snapshotId),
  /** the snapshot it restored or forked */
  from: z.nullable(d.snapshotId),
  /** its steps, as far as they were measured */
  phases: d.phases,
  /** bytes of process images written */
  bytes: z.nullable(d.bytes),
  /** what started it, if no caller did: a time to live, an idle policy, or somebody who used it while it slept */
  cause: z.nullable(z.enum(causes)),
  error: z.nullable(d.errorData),
})

/** One line of an environment's history. */
export type LogEntry = d.Data<typeof logEntry>

export const endedCommand = z.object({
  id: z.string(),
  /** `detached`: in a copy of the shell */
  mode: z.enum(['shell', 'process', 'detached']),
  shell: z.nullable(z.string()),
  /** the beginning of its command line */
  command: z.string(),
  startedAt: d.time,
  endedAt: d.time,
  durationMs: z.number(),
  /** how it ended: an exit code, or the signal that ended it */
  exit: z.object({ exitCode: z.nullable(z.number()), signal: z.nullable(z.string()) }),
})

/** A command that has ended inside. */
export type EndedCommand = d.Data<typeof endedCommand>

export const netChange = z.object({
  environment: environmentInfo,
  /** the other ends of the TCP connections that were cut */
  cut: z.array(z.object({ address: z.string(), port: z.number() })),
})

/** What changing the network of an environment did. */
export type NetChange = d.Data<typeof netChange>

/** One entry for each fork: its info, or the reason why it could not be made. */
export const forked = z.array(z.union([environmentInfo, z.object({ error: d.errorData })]))

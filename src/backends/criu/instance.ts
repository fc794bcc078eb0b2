import * as z from 'zod/mini'
import type { SocketIdentity } from '../../agent/wire/socket.ts'
import type { ProcessIdentity } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { type Captured, capturable, type SnapshotRecord } from '../../model/snapshot.ts'
import type { SnapshotImage } from '../backend.ts'

/** What a copy must have in common with the life that it was captured from. */
export interface Base {
  /** the directory that its own working directory is mounted over */
  readonly workdir: string
  /** path of a copy of the agent */
  readonly agent: string
}

/** Running processes, as the store keeps them. */
export interface CriuInstance extends Base {
  readonly kind: 'criu'
  readonly slot: number
  /** process 1 of their pid namespace, as the host sees it: all others end with it */
  readonly process: ProcessIdentity
  readonly socket: SocketIdentity
  /** what was attached; then `process` is the agent beside it, and there is no namespace of ours */
  readonly foreign?: ProcessIdentity
}

/** Processes that were captured without an agent. */
export interface Adopted {
  /** `member`: its session began outside, so that a copy begins in another */
  readonly session: 'leader' | 'member'
  /** what leads outside, as `--inherit-fd` names it: copies have /dev/null instead */
  readonly nowhere: readonly string[]
  /** the boot whose clocks they know */
  readonly bootId: string
}

export interface CriuImage extends Base {
  readonly kind: 'criu'
  readonly captured: readonly Captured[]
  /** absent if an agent was captured with its processes */
  readonly adopted?: Adopted
}

/** Socket identities are 64-bit numbers, which JSON cannot represent. */
const wide = z.pipe(
  z.string().check(z.regex(/^-?\d{1,20}$/)),
  z.transform((text: string) => BigInt(text)),
)

const processSchema = z.object({ pid: z.number(), startTicks: z.number(), bootId: z.string() })

const instanceSchema: z.ZodMiniType<CriuInstance> = z.object({
  kind: z.literal('criu'),
  slot: z.number(),
  process: processSchema,
  socket: z.object({ dev: wide, ino: wide, birthtimeNs: wide }),
  workdir: z.string(),
  agent: z.string(),
  foreign: z.exactOptional(processSchema),
})

const imageSchema: z.ZodMiniType<CriuImage> = z.object({
  kind: z.literal('criu'),
  captured: z.array(z.enum(capturable)),
  workdir: z.string(),
  agent: z.string(),
  adopted: z.exactOptional(
    z.object({
      session: z.enum(['leader', 'member']),
      nowhere: z.array(z.string()),
      bootId: z.string(),
    }),
  ),
})

export function toRecord({ process, socket, foreign, ...rest }: CriuInstance): Instance {
  const { dev, ino, birthtimeNs } = socket
  return {
    ...rest,
    process: { ...process },
    ...(foreign && { foreign: { ...foreign } }),
    socket: { dev: String(dev), ino: String(ino), birthtimeNs: String(birthtimeNs) },
  }
}

export function fromRecord(record: Instance): CriuInstance {
  return stored('instance', instanceSchema, record)
}

export function toImageRecord({
  captured,
  workdir,
  agent,
  adopted,
}: Omit<CriuImage, 'kind'>): SnapshotImage {
  const kept = adopted && { adopted: { ...adopted, nowhere: [...adopted.nowhere] } }
  return { kind: 'criu', captured: [...captured], workdir, agent, ...kept }
}

export function imageOf({ image }: Pick<SnapshotRecord, 'image'>): CriuImage {
  return stored('image', imageSchema, image)
}

function stored<T>(what: string, schema: z.ZodMiniType<T>, record: unknown): T {
  const parsed = schema.safeParse(record)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new BackendError(`the store has an unreadable ${what} of the criu backend`, {
    remedy: 'use the version of Forkpoint that wrote it, or remove it',
    detail: { where: issue?.path.join('.') ?? '', why: issue?.message ?? 'unknown' },
  })
}

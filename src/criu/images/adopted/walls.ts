import type { DumpImages } from '../dump-images.ts'
import {
  coreEntry,
  credsEntry,
  rlimitEntry,
  seccompEntry,
  seccompFilter,
  taskCoreEntry,
  taskRlimitsEntry,
  threadCoreEntry,
} from '../format/criu-messages.ts'
import { type ImageFile, mapEntries } from '../format/image-file.ts'
import { change, make, read } from '../format/schema.ts'

/** What the processes of a cell may have at most. */
export interface CellWalls {
  /** instructions of the system call filter */
  readonly filter: Buffer
  /** a bit for each */
  readonly capabilities: bigint
  /** in the order of their numbers; unsigned */
  readonly limits: readonly { readonly cur: bigint; readonly max: bigint }[]
  readonly noNewPrivs: boolean
}

const filtered = 2
/** The user of an audit session is nobody. */
const noLogin = 0xffff_ffff

const coreImage = /^core-\d+\.img$/

/** Puts processes that began outside behind the walls of a cell. What they have less of, they keep. */
export function withWalls(images: DumpImages, walls: CellWalls): DumpImages {
  const changed = images
    .matching(coreImage)
    .map((name) => [name, mapEntries(images.image(name), (entry) => walled(entry, walls))] as const)
  return images.with({
    ...Object.fromEntries(changed),
    'seccomp.img': withFirstFilter(images.image('seccomp.img'), walls.filter),
  })
}

/** The cell's own filter comes first, as in every other process of a cell. */
export function withFirstFilter(image: ImageFile, filter: Buffer): ImageFile {
  return mapEntries(image, (entry) => {
    const { filters } = read(seccompEntry, entry)
    const later = filters.map((each) => {
      const { prev } = read(seccompFilter, each)
      return change(seccompFilter, each, { prev: prev === undefined ? 0 : prev + 1 })
    })
    return change(seccompEntry, entry, { filters: [make(seccompFilter, { filter }), ...later] })
  })
}

function walled(entry: Uint8Array, walls: CellWalls): Uint8Array {
  const { tc, threadCore } = read(coreEntry, entry)
  return change(coreEntry, entry, {
    ...(tc && { tc: walledTask(tc, walls) }),
    ...(threadCore && { threadCore: walledThread(threadCore, walls) }),
  })
}

function walledTask(tc: Uint8Array, { limits }: CellWalls): Uint8Array {
  const { rlimits, loginuid, oomScoreAdj } = read(taskCoreEntry, tc)
  return change(taskCoreEntry, tc, {
    ...(rlimits && { rlimits: limited(rlimits, limits) }),
    ...(loginuid !== undefined && { loginuid: noLogin }),
    // Only root of the host may ask the kernel to spare a process.
    ...(oomScoreAdj !== undefined && { oomScoreAdj: Math.max(0, oomScoreAdj) }),
  })
}

function limited(rlimits: Uint8Array, most: CellWalls['limits']): Uint8Array {
  const { rlimits: all } = read(taskRlimitsEntry, rlimits)
  return change(taskRlimitsEntry, rlimits, {
    rlimits: all.map((each, index) => {
      const { cur, max } = read(rlimitEntry, each)
      const bound = most[index]
      if (bound === undefined) return each
      const hard = lesser(max, bound.max)
      return change(rlimitEntry, each, { cur: lesser(cur, hard), max: hard })
    }),
  })
}

/** Of unsigned numbers; the result is signed, as the schema has them. */
function lesser(one: bigint, other: bigint): bigint {
  const [a, b] = [BigInt.asUintN(64, one), BigInt.asUintN(64, other)]
  return BigInt.asIntN(64, a < b ? a : b)
}

function walledThread(threadCore: Uint8Array, walls: CellWalls): Uint8Array {
  const { creds, seccompMode = 0, seccompFilter: last = 0 } = read(threadCoreEntry, threadCore)
  // A process in strict mode has no filter, and may do less than any other.
  const mode =
    seccompMode === 0
      ? { seccompMode: filtered, seccompFilter: 0 }
      : seccompMode === filtered
        ? { seccompFilter: last + 1 }
        : {}
  return change(threadCoreEntry, threadCore, {
    ...mode,
    ...(creds && { creds: walledCreds(creds, walls) }),
  })
}

function walledCreds(creds: Uint8Array, { capabilities, noNewPrivs }: CellWalls): Uint8Array {
  const { capInh, capPrm, capEff, capBnd, capAmb } = read(credsEntry, creds)
  const kept = (words: readonly number[]) =>
    words.map((word, index) =>
      Number(BigInt(word) & BigInt.asUintN(32, capabilities >> BigInt(32 * index))),
    )
  return change(credsEntry, creds, {
    capInh: kept(capInh),
    capPrm: kept(capPrm),
    capEff: kept(capEff),
    capBnd: kept(capBnd),
    capAmb: kept(capAmb),
    // A profile of the host's policy cannot be entered from a cell, and the cell's walls hold without one.
    lsmProfile: undefined,
    lsmSockcreate: undefined,
    ...(noNewPrivs && { noNewPrivs: 1 }),
  })
}

export interface ForeignId {
  /** its number in the images */
  readonly thread: number
  readonly id: number
}

/** A process with a user or group that a cell with so many ids does not have. */
export function foreignId(images: DumpImages, count: number): ForeignId | undefined {
  return images.matching(coreImage).flatMap((name) => {
    const thread = Number(name.slice('core-'.length, -'.img'.length))
    return images.image(name).entries.flatMap((entry) => {
      const { threadCore } = read(coreEntry, entry)
      const creds = threadCore && read(threadCoreEntry, threadCore).creds
      return idsIn(creds)
        .filter((id) => id >= count)
        .map((id) => ({ thread, id }))
    })
  })[0]
}

function idsIn(creds: Uint8Array | undefined): number[] {
  if (creds === undefined) return []
  const { uid, gid, euid, egid, suid, sgid, fsuid, fsgid, groups } = read(credsEntry, creds)
  return [uid, gid, euid, egid, suid, sgid, fsuid, fsgid, ...groups]
}

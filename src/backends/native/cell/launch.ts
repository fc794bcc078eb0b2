import { restore } from '../../../criu/criu.ts'
import { openImages } from '../../../criu/images/dump-images.ts'
import { lostLocksOf } from '../../../criu/images/lost-locks.ts'
import { linkAllPages } from '../../../criu/memory/pages-files.ts'
import { retakeLocks } from '../../../criu/retake-locks.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { identify, isAlive } from '../../../linux/process-identity.ts'
import type { Tools } from '../../../linux/tools.ts'
import type { EnvironmentRecord, Limits } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import type { Identity } from '../../backend.ts'
import { explained } from '../host-failures.ts'
import { agentListening, type NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { writeGivenLink } from '../network/given-links.ts'
import { linkRules, prepareLink } from '../network/link.ts'
import { removeInterface } from '../network/nat.ts'
import { ensureDevices } from '../overlay/layers.ts'
import { requireDiskLimits } from '../overlay/subvolumes/disk-limits.ts'
import { cgroupName, type EnvironmentPlaces } from '../places.ts'
import { explainedIfOutOfMemory } from '../stats/out-of-memory.ts'
import {
  type CellAddresses,
  type CellNet,
  type CellSpec,
  cellArguments,
  createCell,
  type Layer,
} from './cell.ts'
import { hasIoLimits, makeCgroups, setLimits } from './cgroup.ts'
import {
  type Attributes,
  makeDirectories,
  makeUpper,
  writeIdentity,
} from './environment-directory.ts'
import { takeIds } from './id-ranges.ts'
import { limitIo } from './io-limits.ts'
import { takeSlot } from './slots.ts'

export interface Launch extends Pick<EnvironmentRecord, 'id' | 'limits' | 'net'> {
  readonly identity: Identity
  /** topmost first */
  readonly layers: readonly Layer[]
  /** the subvolume that its own one begins as a copy of, or null for an empty one; null: it has none */
  readonly files: { readonly from: string | null } | null
  /** CRIU's images to continue from; null for a new agent */
  readonly images: string | null
  /** directory of the pages that those images map, which the environment then holds too */
  readonly pages: string | null
  /** mode and owner of `/` inside; absent: those of a new environment */
  readonly root?: Attributes | undefined
  /** the life of the same environment that this one takes over from, and whose address it keeps */
  readonly replaces: NativeInstance | null
  /** no link to the host, only these addresses inside; absent: as `net` says */
  readonly unconnected?: { readonly addresses: CellAddresses | null }
  /** absent: a new slot */
  readonly slot?: number
  /** `frozen`: restored processes wait before their first instruction; absent: they run */
  readonly start?: 'running' | 'frozen'
  /** finds the list of what restored processes remember about files; absent: that stays as it is */
  readonly pairs?: () => Promise<string | null>
  /** verifies the images while they are being restored; absent: they are known to be sound */
  readonly check?: () => Promise<void>
}

type Agent = Pick<NativeInstance, 'process' | 'socket'>

/** Begins one life of an environment; other lives of it may be running. */
export async function launch(native: Native, spec: Launch): Promise<NativeInstance> {
  const { places, settings, layout, tools } = native
  if (spec.limits.diskBytes !== undefined) {
    requireDiskLimits(spec.files === null ? 'directory' : 'subvolume')
  }
  if (spec.images !== null) native.workers.prepare(1)
  const pairs = spec.pairs?.()
  // Whoever needs it is told. If another step fails before, nobody does.
  pairs?.catch(() => {})
  const making = 'making the directories of an environment'
  const slot = spec.slot ?? (await explained(making, () => takeSlot(places, spec.id)))
  const place = places.slot(spec.id, slot)
  const ids = await explained(making, async () => takeIds(settings.ids, place.dir))
  const group = cgroupName(spec.id, slot)
  const roomy = spec.images === null ? spec.limits : withHelpers(spec.limits)
  const cgroups = await makeCgroups(layout, places.key, group, roomy)
  killPoint('launch:cgroups')
  await explained(making, () => fillPlace(place, spec, settings.ids.base))
  killPoint('launch:directories')
  const made = { dir: place.dir, dev: await ensureDevices(tools, places), pages: place.pages }
  const loose = spec.unconnected?.addresses ?? null
  const files = spec.files && { path: places.filesOf(spec.id, slot), from: spec.files.from }
  const cell = { ...made, ...outfitOf(native, spec), ids, cgroups, loose, files }
  const start = (net: CellNet | null) =>
    startLife(
      native,
      place,
      { ...cell, net },
      { ...spec, pairs: async () => (await pairs) ?? null },
    )
  const watched = { layout, cgroups, limits: spec.limits }
  const { agent, net } = await explainedIfOutOfMemory('starting an environment', watched, () =>
    linked(native, spec, place, start),
  )
  const { pids } = spec.limits
  if (roomy !== spec.limits && pids !== undefined) {
    await setLimits(layout, places.key, group, { pids })
  }
  if (hasIoLimits(spec.limits)) {
    const paths = [files?.path ?? place.dir, ...spec.layers.map(({ path }) => path)]
    await limitIo(layout, places.key, group, { limits: spec.limits, paths })
  }
  killPoint('launch:alive')
  const instance: NativeInstance = { kind: 'native', slot, ...agent, ids, net, layers: spec.layers }
  return files === null ? instance : { ...instance, ...(await limited(native, files.path, spec)) }
}

/** The limit comes last: the mount and CRIU write there too, and must not fail if nothing is left. */
async function limited(
  { disks }: Native,
  path: string,
  { limits: { diskBytes } }: Launch,
): Promise<Pick<NativeInstance, 'files' | 'disk'>> {
  if (diskBytes === undefined) return { files: 'subvolume' }
  const { bytes, counter } = await disks.begin(path, diskBytes)
  return { files: 'subvolume', disk: { bytes, counter } }
}

async function fillPlace(place: EnvironmentPlaces, spec: Launch, rootId: number): Promise<void> {
  await makeDirectories(place, rootId)
  if (spec.files === null) await makeUpper(place, rootId, spec.root)
  if (spec.pages !== null) await linkAllPages(spec.pages, place.pages)
  await writeIdentity(place, spec.identity, rootId)
}

/** The part of a cell that comes from settings and the spec, the same for every life. */
function outfitOf({ settings }: Native, { layers, identity, root }: Launch) {
  const { ids, noNewPrivs } = settings
  return { layers, root, hostname: identity.hostname, diskIds: ids.base, noNewPrivs }
}

function startLife(
  native: Native,
  place: EnvironmentPlaces,
  cell: CellSpec,
  spec: Launch,
): Promise<Agent> {
  return spec.images === null
    ? startCell(native.tools, place, cell, spec)
    : restoreCell(native, cell, { ...spec, images: spec.images })
}

/** CRIU adds its own processes to the restored ones, which may already use up the limit. */
const maxHelpers = 16

function withHelpers(limits: Limits): Limits {
  return limits.pids === undefined ? limits : { ...limits, pids: limits.pids + maxHelpers }
}

/**
 * Starts a life with its network link. It keeps the link of the life that it takes over from. If that life
 * has ended, its link and rules may be gone and its address may be in use, so it gets a new link. Then the
 * lease is held until the new interface exists, which marks the address as taken.
 */
async function linked(
  native: Native,
  { id, limits, net: wanted, replaces, unconnected }: Launch,
  place: EnvironmentPlaces,
  start: (net: CellNet | null) => Promise<Agent>,
): Promise<{ agent: Agent; net: CellNet | null }> {
  if (unconnected || wanted.mode === 'none') return { agent: await start(null), net: null }
  const rules = linkRules({ limits, net: wanted })
  const kept = replaces && isAlive(replaces.process) ? replaces.net : null
  if (kept) {
    await writeGivenLink(place, { gateway: kept.gateway, ...rules })
    return { agent: await start(kept), net: kept }
  }
  return native.exclusively('net', 'connecting an environment', async () => {
    const net = await prepareLink(native, id, place, { rules })
    killPoint('launch:net')
    return { agent: await start(net), net }
  })
}

async function startCell(
  tools: Tools,
  place: EnvironmentPlaces,
  cell: CellSpec,
  { replaces }: Launch,
): Promise<Agent> {
  // A restored cell takes over the link of the previous life; a new cell makes its own.
  if (cell.net && replaces) await removeInterface(tools, cell.net.interface)
  return agentListening(place.socket, await createCell(tools, cell))
}

async function restoreCell(
  native: Native,
  cell: CellSpec,
  { images, pairs, start = 'running', check }: Launch & { readonly images: string },
): Promise<Agent> {
  const dumped = openImages(images)
  const lostLocks = lostLocksOf(dumped)
  const place = { ...cell, args: cellArguments(cell) }
  const restoring = restore(native.workers, place, {
    images: dumped,
    pairs: (await pairs?.()) ?? null,
    start: lostLocks.length > 0 ? 'frozen' : start,
    address: (cell.net ?? cell.loose)?.address ?? null,
  })
  const [checked] = await Promise.allSettled([check?.(), restoring])
  if (checked.status === 'rejected') throw checked.reason
  const { pid, socket } = await restoring
  if (lostLocks.length > 0) await retakeLocks(native.tools, cell.cgroups[0], lostLocks, start)
  const process = identify(pid)
  if (!process) {
    throw new BackendError('the restored agent ended immediately', {
      remedy: 'check `dmesg` for a lack of memory, raise the memory limit, and try again',
    })
  }
  return { process, socket }
}

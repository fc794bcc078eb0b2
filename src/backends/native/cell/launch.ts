import { restore } from '../../../criu/criu.ts'
import { lostLocksOf } from '../../../criu/images/lost-locks.ts'
import { retakeLocks } from '../../../criu/lost-locks.ts'
import { linkAllPages } from '../../../criu/memory/pages-files.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { identify, isAlive } from '../../../linux/process-identity.ts'
import type { EnvironmentRecord, Limits } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import type { Identity } from '../../backend.ts'
import { explained } from '../host-failures.ts'
import { agentListening, type NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { linksOfOthers, writeGivenLink } from '../network/given-links.ts'
import { allow, ensureNat, freeLink, interfaceName, removeInterface } from '../network/nat.ts'
import { ensureDevices } from '../overlay/layers.ts'
import { cgroupName, type EnvironmentPlaces } from '../places.ts'
import { type CellNet, type CellSpec, cellArguments, createCell, type Layer } from './cell.ts'
import { makeCgroups, setLimits } from './cgroup.ts'
import { type Attributes, makeDirectories, writeIdentity } from './environment-directory.ts'
import { takeIds } from './id-ranges.ts'
import { takeSlot } from './slots.ts'

export interface Launch extends Pick<EnvironmentRecord, 'id' | 'limits' | 'net'> {
  readonly identity: Identity
  /** topmost first */
  readonly layers: readonly Layer[]
  /** CRIU's images to continue from; null: a fresh agent */
  readonly images: string | null
  /** directory of what those images map, which the environment then has as well; null: nothing */
  readonly pages: string | null
  /** mode and owner of `/` inside; absent: those that every new environment has */
  readonly root?: Attributes | undefined
  /** the life of the same environment that this one takes over from: it keeps its address */
  readonly replaces: NativeInstance | null
  /** which life it is; absent: the next one */
  readonly slot?: number
  /** `frozen`: what is restored waits before its first instruction; absent: it runs */
  readonly start?: 'running' | 'frozen'
  /** whether those images are sound, which is looked at while they are restored; absent: they are */
  readonly check?: () => Promise<void>
}

type Agent = Pick<NativeInstance, 'process' | 'socket'>

/** Brings one environment to life, beside whatever else is alive of it. */
export async function launch(native: Native, spec: Launch): Promise<NativeInstance> {
  const { places, settings, layout } = native
  if (spec.images !== null) native.workers.prepare(1)
  const making = 'making the directories of an environment'
  const slot = spec.slot ?? (await explained(making, () => takeSlot(places, spec.id)))
  const place = places.slot(spec.id, slot)
  const ids = await explained(making, async () => takeIds(settings.ids, place.dir))
  const group = cgroupName(spec.id, slot)
  const roomy = spec.images === null ? spec.limits : withHelpers(spec.limits)
  const cgroups = await makeCgroups(layout, places.key, group, roomy)
  killPoint('launch:cgroups')
  await explained(making, async () => {
    await makeDirectories(place, settings.ids.base, spec.root)
    if (spec.pages !== null) await linkAllPages(spec.pages, place.pages)
    await writeIdentity(place, spec.identity, settings.ids.base)
  })
  killPoint('launch:directories')
  const dev = await ensureDevices(places)
  const start = (net: CellNet | null): Promise<Agent> => {
    const cell: CellSpec = {
      ...{ dir: place.dir, dev, pages: place.pages, layers: spec.layers, cgroups, net },
      ...{ hostname: spec.identity.hostname, ids, diskIds: settings.ids.base },
      noNewPrivs: settings.noNewPrivs,
    }
    return spec.images === null
      ? startCell(place, cell, spec)
      : restoreCell(native, cell, { ...spec, images: spec.images })
  }
  const { agent, net } = await linked(native, spec, place, start)
  const { pids } = spec.limits
  if (roomy !== spec.limits && pids !== undefined) {
    await setLimits(layout, places.key, group, { pids })
  }
  killPoint('launch:alive')
  return { kind: 'native', slot, ...agent, ids, net, layers: spec.layers }
}

/** CRIU's own processes inside come on top of what is restored, which may be all that is allowed. */
const mostHelpers = 16

function withHelpers(limits: Limits): Limits {
  return limits.pids === undefined ? limits : { ...limits, pids: limits.pids + mostHelpers }
}

/**
 * With a network: the link of the life that it takes over from. Where that one has ended, its link and
 * rules may be gone and its address another's, so the link is a new one; then the lease is held until
 * its interface shows its address as taken.
 */
async function linked(
  native: Native,
  { id, net: wanted, replaces }: Launch,
  place: EnvironmentPlaces,
  start: (net: CellNet | null) => Promise<Agent>,
): Promise<{ agent: Agent; net: CellNet | null }> {
  if (wanted.mode === 'none') return { agent: await start(null), net: null }
  const { allow: networks } = wanted
  const kept = replaces && isAlive(replaces.process) ? replaces.net : null
  if (kept) {
    await writeGivenLink(place, { gateway: kept.gateway, allow: networks })
    return { agent: await start(kept), net: kept }
  }
  const { exclusively, nat, places, settings } = native
  return exclusively('net', 'connecting an environment', async () => {
    await ensureNat(nat, settings.net.pool)
    const name = interfaceName(nat, id)
    const link = freeLink(nat, settings.net.pool, name, linksOfOthers(places, id))
    await writeGivenLink(place, { gateway: link.gateway, allow: networks })
    await allow(nat, name, networks)
    killPoint('launch:net')
    const net = { interface: name, ...link }
    return { agent: await start(net), net }
  })
}

async function startCell(
  place: EnvironmentPlaces,
  cell: CellSpec,
  { replaces }: Launch,
): Promise<Agent> {
  // A restored cell takes the link over from the life before; a fresh one makes its own.
  if (cell.net && replaces) await removeInterface(cell.net.interface)
  return agentListening(place.socket, await createCell(cell))
}

async function restoreCell(
  native: Native,
  cell: CellSpec,
  { images, start = 'running', check }: Launch & { readonly images: string },
): Promise<Agent> {
  const lostLocks = await lostLocksOf(images)
  const place = { ...cell, args: cellArguments(cell) }
  const restoring = restore(native.workers, place, {
    images,
    start: lostLocks.length > 0 ? 'frozen' : start,
  })
  const [checked] = await Promise.allSettled([check?.(), restoring])
  if (checked.status === 'rejected') throw checked.reason
  const { pid, socket } = await restoring
  if (lostLocks.length > 0) await retakeLocks(cell.cgroups[0] ?? '', lostLocks, start)
  const process = identify(pid)
  if (!process) throw new BackendError('the restored agent ended at once')
  return { process, socket }
}

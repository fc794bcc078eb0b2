import { join } from 'node:path'
import { imagesFor } from '../../criu/image-variants.ts'
import { verifyManifest } from '../../criu/manifest.ts'
import { currentHome, dropStale } from '../../criu/memory/generation.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { isAlive } from '../../linux/process-identity.ts'
import { runCell } from '../../linux/run-cell.ts'
import { stopwatch } from '../../linux/stopwatch.ts'
import type { Capability } from '../../model/capabilities.ts'
import type { Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type {
  Backend,
  BackendContext,
  CreateSpec,
  Identity,
  MaterializeSpec,
  PrepareSpec,
} from '../backend.ts'
import { removeHomeCgroups } from './cell/cgroup.ts'
import { attributesOf, writeIdentity } from './cell/environment-directory.ts'
import { freeze, isFrozen, thaw, wakeFrozen } from './cell/freezer.ts'
import { harden } from './cell/harden.ts'
import { giveBackAbandonedIds } from './cell/id-ranges.ts'
import { raiseKernelLimits } from './cell/kernel-limits.ts'
import { type Launch, launch } from './cell/launch.ts'
import { destroy, endSlot, remnants, retire } from './cell/lives.ts'
import { takeSlot } from './cell/slots.ts'
import { checkMachine } from './doctor/checks.ts'
import { explained, tellingFull } from './host-failures.ts'
import { fromRecord, toRecord } from './instance.ts'
import { openNative } from './native.ts'
import { removeNat } from './network/nat.ts'
import { flush } from './overlay/flush.ts'
import { baseLayers } from './overlay/layers.ts'
import { overCurrentLayers } from './overlay/squash/current-layers.ts'
import {
  discardSquashed,
  discardUnrecorded,
  fold,
  layersOf,
  squash,
  squashDue,
} from './overlay/squash/squash.ts'
import { viewFiles } from './overlay/view/view-files.ts'
import { discardVolume, openVolume, volumeIsOpen } from './overlay/volume.ts'
import {
  capture,
  captureFiles,
  discard,
  imageOf,
  toImageRecord,
  uncapture,
} from './snapshot/capture.ts'
import { gatherMemory } from './snapshot/gather-memory.ts'
import { holdingsOf } from './snapshot/holdings.ts'
import { validateSource } from './sources.ts'
import { privateMemory } from './stats/private-memory.ts'
import { readStats } from './stats/stats.ts'

const capabilities = new Set<Capability>([
  ...(['filesystem', 'processes', 'terminal', 'fork', 'restore'] as const),
  ...(['pause', 'nat', 'limits', 'ports', 'memory-sharing'] as const),
])

/** Namespaces, OverlayFS and CRIU on an ordinary kernel. */
export function nativeBackend(context: BackendContext): Backend {
  const native = openNative(context)
  const { settings, exclusively, places, layout, nat, mask } = native
  // Under the lease: whoever gives the volume back looks for records under it, too.
  const open = () =>
    exclusively('volume', 'opening the volume', () => openVolume(places, settings.volume))
  /** For what has a record already: the volume stays, but after a reboot it is not mounted. */
  const reopen = async () => {
    if (!(await volumeIsOpen(places))) await open()
  }

  const launchTold = (spec: Launch) =>
    tellingFull(places.data, 'starting an environment', () => launch(native, spec))

  async function create(spec: CreateSpec): Promise<Instance> {
    await Promise.all([open(), raiseKernelLimits()])
    killPoint('create:volume')
    const layers = await explained('making the layers of an environment', () =>
      baseLayers(places, spec.source, { mask, net: spec.net.mode }),
    )
    killPoint('create:layers')
    return toRecord(
      await launchTold({ ...spec, layers, images: null, pages: null, replaces: null }),
    )
  }

  async function materialize({
    snapshot,
    replaces,
    role,
    ...spec
  }: MaterializeSpec): Promise<Instance> {
    await reopen()
    const image = imageOf(snapshot)
    const home = await currentHome(places.snapshot(snapshot.id))
    const images = await imagesFor(home, role)
    const instance = await launchTold({
      ...{ ...spec, layers: image.layers, root: image.root },
      replaces: replaces && fromRecord(replaces),
      images: image.captured.includes('processes') ? images : null,
      pages: join(home, 'pages'),
      ...(role === 'copy' && { check: () => verifyManifest(home) }),
    })
    return toRecord(instance)
  }

  async function prepare({ snapshot, ...spec }: PrepareSpec): Promise<Instance> {
    await reopen()
    const home = await currentHome(places.snapshot(snapshot.id))
    const images = await imagesFor(home, 'copy')
    const slot = await takeSlot(places, spec.id)
    const { layers, root } = imageOf(snapshot)
    const pages = join(home, 'pages')
    try {
      return toRecord(
        await launch(native, {
          ...{ ...spec, layers, root, images, pages, slot, replaces: null, start: 'frozen' },
          check: () => verifyManifest(home),
        }),
      )
    } catch (error) {
      await endSlot(native, spec.id, slot)
      throw error
    }
  }

  async function wake(
    id: EnvironmentId,
    instance: Instance,
    identity: Identity | null,
  ): Promise<boolean> {
    const { process } = fromRecord(instance)
    if (!isAlive(process)) return false
    if (identity !== null) {
      await Promise.all([
        writeIdentity(placeOf(id, instance), identity, settings.ids.base),
        runCell('naming a cell', ['hostname', String(process.pid), identity.hostname]),
      ])
    }
    return wakeFrozen(groupsOf(id, instance))
  }

  const groupsOf = (id: EnvironmentId, instance: Instance) =>
    native.cgroups(id, fromRecord(instance).slot)
  const placeOf = (id: EnvironmentId, instance: Instance) =>
    places.slot(id, fromRecord(instance).slot)

  return {
    name: 'native',
    capabilities,
    ready: reopen,
    files: viewFiles(native),
    validate: (source) => validateSource(source, mask),
    create,
    capture: async (id, record, snapshot, { mode, memory: memoryMode, head }) => {
      const watch = stopwatch()
      const instance = fromRecord(record)
      const take = () =>
        mode === 'full'
          ? capture(native, { id, instance, snapshot, memory: memoryMode }, watch)
          : captureFiles(native, { id, instance, snapshot }, watch)
      const { image: own, ...taken } = await tellingFull(places.data, 'taking a snapshot', take)
      const image = {
        ...(await overCurrentLayers(own, instance.layers, head)),
        root: await attributesOf(places.sealed(snapshot)),
      }
      return {
        ...taken,
        ...{ image: toImageRecord(image), captured: image.captured, phases: watch.phases },
      }
    },
    uncapture: (id, instance, snapshot) => uncapture(native, id, fromRecord(instance), snapshot),
    materialize,
    prepare,
    wake,
    privateBytes: (id, instance) => privateMemory(layout, groupsOf(id, instance)),
    end: (id, instance) => endSlot(native, id, fromRecord(instance).slot),
    retire: (id, keep) => retire(native, id, keep),
    destroy: (id) => destroy(native, id),
    discard: async (snapshot) => {
      await discardSquashed(native, snapshot)
      await discard(native, snapshot)
    },
    flush: (snapshot) => flush(native, snapshot),
    gatherMemory: (snapshot) => explained('compacting', () => gatherMemory(places, snapshot)),
    dropStaleMemory: (id) => dropStale(places.snapshot(id)),
    holdings: ({ id }) => holdingsOf(places, id),
    squashDue,
    squash: (snapshot, signal) => squash(native, snapshot, signal),
    compact: (snapshot) => tellingFull(places.data, 'compacting', () => fold(snapshot)),
    discardUnrecorded: (recorded) => discardUnrecorded(native, recorded),
    layersOf,
    remnants: () => remnants(native),
    harden: () => harden(native),
    isOutdated: (instance) => fromRecord(instance).ids === undefined,
    address: (id, instance) => ({
      path: placeOf(id, instance).socket,
      identity: fromRecord(instance).socket,
    }),
    identify: (id, instance, identity) =>
      explained('writing /run/forkpoint/identity.json inside', () =>
        writeIdentity(placeOf(id, instance), identity, settings.ids.base),
      ),
    isAlive: (instance) => isAlive(fromRecord(instance).process),
    inspect: async (id, instance) => {
      if (!isAlive(fromRecord(instance).process)) return 'dead'
      return isFrozen(groupsOf(id, instance)) ? 'paused' : 'running'
    },
    pause: (id, instance) => freeze(groupsOf(id, instance)),
    resume: (id, instance) => thaw(groupsOf(id, instance)),
    stats: (id, instance) => readStats(native, id, fromRecord(instance).slot),
    release: async (left) => {
      await exclusively('net', 'removing NAT', () => removeNat(nat))
      killPoint('remove:nat')
      await removeHomeCgroups(layout, places.key)
      giveBackAbandonedIds()
      if (left !== 'nothing') return
      native.workers.dismiss()
      await discardVolume(places)
    },
    check: () => checkMachine({ native, create, destroy: (id) => destroy(native, id) }),
    close: () => native.workers.dismiss(),
  }
}

import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import type { Capability } from '../../model/capabilities.ts'
import type { Instance } from '../../model/environment.ts'
import { type EnvironmentId, isEnvironmentId } from '../../model/ids.ts'
import { killPoint } from '../../system/kill-points.ts'
import { isAlive } from '../../system/process-identity.ts'
import type { Backend, BackendContext, CreateSpec } from '../backend.ts'
import { type CellNet, createCell } from './cell.ts'
import {
  cgroupDirs,
  cgroupIds,
  freeze,
  isFrozen,
  makeCgroups,
  removeCgroups,
  thaw,
} from './cgroup.ts'
import { detectLayout } from './cgroup-layout.ts'
import { checkMachine } from './checks.ts'
import { makeDirectories, writeIdentity } from './environment-directory.ts'
import { explained } from './host-failures.ts'
import { agentListening, fromRecord, toRecord } from './instance.ts'
import { baseLayers, ensureDevices } from './layers.ts'
import {
  allow,
  ensureNat,
  forget,
  freeLink,
  interfaceName,
  natNames,
  removeInterface,
  removeNat,
} from './nat.ts'
import { placesOf } from './places.ts'
import { removeTree } from './remove-tree.ts'
import { validateSource } from './sources.ts'
import { readStats } from './stats.ts'
import { discardVolume, openVolume } from './volume.ts'

const capabilities = new Set<Capability>(['pause', 'nat', 'limits', 'ports'])

/** Namespaces, OverlayFS and CRIU on an ordinary kernel. */
export function nativeBackend(context: BackendContext): Backend {
  const { settings, exclusively } = context
  const places = placesOf(settings.home)
  const layout = detectLayout()
  const nat = natNames(places.key)
  const mask = [...settings.mask, places.home]
  const groups = (id: EnvironmentId) => cgroupDirs(layout, places.key, id)

  async function create(spec: CreateSpec): Promise<Instance> {
    await exclusively('volume', 'opening the volume', () => openVolume(places, settings.volume))
    killPoint('create:volume')
    const place = places.env(spec.id)
    await explained('making the directories of an environment', async () => {
      await makeDirectories(place, settings.ids.base)
      await writeIdentity(place, spec.identity, settings.ids.base)
    })
    killPoint('create:directories')
    const [layers, dev, cgroups] = await explained('making the layers of an environment', () =>
      Promise.all([
        baseLayers(places, spec.source, { mask, net: spec.net.mode }),
        ensureDevices(places),
        makeCgroups(layout, places.key, spec.id, spec.limits),
      ]),
    )
    killPoint('create:layers')
    const start = (net: CellNet | null) =>
      createCell({
        ...{ dir: place.dir, dev, layers, cgroups, net },
        ...{ hostname: spec.identity.hostname, ids: settings.ids, noNewPrivs: settings.noNewPrivs },
      })
    const { pid, net } =
      spec.net.mode === 'nat' ? await connected(spec, start) : { pid: await start(null), net: null }
    killPoint('create:cell')
    const agent = await agentListening(place.socket, pid)
    killPoint('create:listening')
    return toRecord({ kind: 'native', ...agent, net, layers })
  }

  /** The lease is held until the interface exists: from then on its address is seen to be taken. */
  function connected(spec: CreateSpec, start: (net: CellNet) => Promise<number>) {
    return exclusively('net', 'connecting an environment', async () => {
      await writeFile(places.env(spec.id).net, '')
      await ensureNat(nat, settings.net.pool)
      const net = { interface: interfaceName(nat, spec.id), ...freeLink(nat, settings.net.pool) }
      await allow(nat, net.interface, spec.net.allow)
      killPoint('create:net')
      return { pid: await start(net), net }
    })
  }

  async function destroy(id: EnvironmentId): Promise<void> {
    const place = places.env(id)
    await removeCgroups(groups(id))
    killPoint('remove:processes')
    if (existsSync(place.net)) await disconnect(interfaceName(nat, id))
    killPoint('remove:network')
    await removeTree(place.dir)
    killPoint('remove:directories')
  }

  async function disconnect(iface: string): Promise<void> {
    await forget(nat, iface)
    await removeInterface(iface)
  }

  async function remnants(): Promise<EnvironmentId[]> {
    const found = await cgroupIds(layout, places.key)
    for (const name of await readdir(places.envs).catch(() => [])) found.add(name)
    return [...found].filter(isEnvironmentId)
  }

  return {
    name: 'native',
    capabilities,
    validate: (source) => validateSource(source, mask),
    create,
    destroy,
    remnants,
    address: (id, instance) => ({
      path: places.env(id).socket,
      identity: fromRecord(instance).socket,
    }),
    identify: (id, identity) =>
      explained('writing /run/forkpoint/identity.json inside', () =>
        writeIdentity(places.env(id), identity, settings.ids.base),
      ),
    isAlive: (instance) => isAlive(fromRecord(instance).process),
    inspect: async (id, instance) => {
      if (!isAlive(fromRecord(instance).process)) return 'dead'
      return (await isFrozen(groups(id))) ? 'paused' : 'running'
    },
    pause: (id) => freeze(groups(id)),
    resume: (id) => thaw(groups(id)),
    stats: (id) => readStats(layout, places.key, id, places.env(id).upper),
    release: async () => {
      await exclusively('net', 'removing NAT', () => removeNat(nat))
      killPoint('remove:nat')
      await discardVolume(places)
    },
    check: () => checkMachine({ context, places, layout, create, destroy }),
  }
}

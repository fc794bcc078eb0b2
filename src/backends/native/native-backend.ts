import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import type { Capability } from '../../model/capabilities.ts'
import type { Instance } from '../../model/environment.ts'
import { type EnvironmentId, isEnvironmentId } from '../../model/ids.ts'
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
import { agentListening, fromRecord, toRecord } from './instance.ts'
import { baseLayers, ensureDevices } from './layers.ts'
import { allow, ensureNat, forget, freeLink, interfaceName, natNames, removeNat } from './nat.ts'
import { placesOf } from './places.ts'
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
  const groups = (id: EnvironmentId) => cgroupDirs(layout, places.key, id)

  async function create(spec: CreateSpec): Promise<Instance> {
    await exclusively('volume', 'opening the volume', () => openVolume(places, settings.volume))
    const place = places.env(spec.id)
    await makeDirectories(place, settings.ids.base)
    await writeIdentity(place, spec.identity, settings.ids.base)
    const [layers, dev, cgroups] = await Promise.all([
      baseLayers(places, spec.source, settings.mask),
      ensureDevices(places),
      makeCgroups(layout, places.key, spec.id, spec.limits),
    ])
    const start = (net: CellNet | null) =>
      createCell({
        ...{ dir: place.dir, dev, layers, cgroups, net },
        ...{ hostname: spec.identity.hostname, ids: settings.ids, noNewPrivs: settings.noNewPrivs },
      })
    const { pid, net } =
      spec.net.mode === 'nat' ? await connected(spec, start) : { pid: await start(null), net: null }
    const agent = await agentListening(place.socket, pid)
    return toRecord({ kind: 'native', ...agent, net, layers })
  }

  /** The lease is held until the interface exists: from then on its address is seen to be taken. */
  function connected(spec: CreateSpec, start: (net: CellNet) => Promise<number>) {
    return exclusively('net', 'connecting an environment', async () => {
      await ensureNat(nat, settings.net.pool)
      const net = { interface: interfaceName(nat, spec.id), ...freeLink(settings.net.pool) }
      await allow(nat, net.interface, spec.net.allow)
      return { pid: await start(net), net }
    })
  }

  async function destroy(id: EnvironmentId): Promise<void> {
    // The interface goes with the cell's last process; what it was allowed to reach does not.
    const iface = interfaceName(nat, id)
    const hadNetwork = existsSync(`/sys/class/net/${iface}`)
    await removeCgroups(groups(id))
    if (hadNetwork) await forget(nat, iface)
    await rm(places.env(id).dir, { recursive: true, force: true, maxRetries: 3 })
  }

  async function remnants(): Promise<EnvironmentId[]> {
    const found = await cgroupIds(layout, places.key)
    for (const name of await readdir(places.envs).catch(() => [])) found.add(name)
    return [...found].filter(isEnvironmentId)
  }

  return {
    name: 'native',
    capabilities,
    validate: validateSource,
    create,
    destroy,
    remnants,
    address: (id, instance) => ({
      path: places.env(id).socket,
      identity: fromRecord(instance).socket,
    }),
    identify: (id, identity) => writeIdentity(places.env(id), identity, settings.ids.base),
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
      await discardVolume(places)
    },
    check: () => checkMachine({ context, places, layout, create, destroy }),
  }
}

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openConnection } from '../../agent/connect.ts'
import { quiesce } from '../../agent/environment.ts'
import { execCommand } from '../../agent/exec.ts'
import { openAgentSocket } from '../../agent/socket.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { BackendContext, CreateSpec } from '../backend.ts'
import { freeze, makeCgroups } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'
import { type CriuCommand, dump, restore } from './criu.ts'
import { makeDirectories } from './environment-directory.ts'
import { agentListening, fromRecord } from './instance.ts'
import { ensureDevices } from './layers.ts'
import type { Places } from './places.ts'
import { seal } from './seal.ts'

/** What a probe works with: the backend's own ways of making and removing. */
export interface Machine {
  readonly context: BackendContext
  readonly places: Places
  readonly layout: CgroupLayout
  create(spec: CreateSpec): Promise<Instance>
  destroy(id: EnvironmentId): Promise<void>
}

/** A cell made for a probe; gone when it is disposed. */
export interface ProbeCell extends AsyncDisposable {
  readonly id: EnvironmentId
  readonly instance: Instance
}

const hostname = 'forkpoint-probe'

/** A small environment like any other, except that no record of it is kept. */
export async function makeProbeCell(machine: Machine, id: EnvironmentId): Promise<ProbeCell> {
  const identity = { id, name: null, hostname, machineId: '0'.repeat(32) }
  try {
    const instance = await machine.create({
      ...{ id, identity, source: { kind: 'host' }, limits: { pids: 64 } },
      net: { mode: 'none', allow: [] },
    })
    return { id, instance, [Symbol.asyncDispose]: () => machine.destroy(id) }
  } catch (error) {
    await machine.destroy(id)
    throw error
  }
}

/** Runs a command in the shell of a cell's agent. */
export async function askShell(
  machine: Machine,
  id: EnvironmentId,
  command: string,
): Promise<string> {
  await using connection = await connect(machine, id)
  const { stdout, stderr, exitCode } = await execCommand(connection, { mode: 'shell', command })
  if (exitCode === 0) return stdout.toString().trim()
  throw new BackendError(`a command in a new cell ended with ${exitCode}: ${stderr}`)
}

/** Dumps the cell with CRIU and restores it as `copy`; returns what its shell then answers. */
export async function dumpAndRestore(
  machine: Machine,
  criu: CriuCommand,
  cell: ProbeCell,
  copy: EnvironmentId,
  question: string,
): Promise<string> {
  const { places, context, layout } = machine
  const { settings } = context
  const place = places.env(copy)
  const images = join(places.env(cell.id).dir, 'images')
  const layer = join(places.layers, `probe-${cell.id}`)
  try {
    await makeDirectories(place, settings.ids.base)
    await mkdir(images)
    await quiesce(await connect(machine, cell.id))
    const cgroups = await makeCgroups(layout, places.key, cell.id, {})
    await freeze(cgroups)
    const { process, layers } = fromRecord(cell.instance)
    await dump(criu, { pid: process.pid, images, cgroup: cgroups[0] ?? '' })
    await seal(places.env(cell.id).upper, layer)
    const spec = {
      ...{ dir: place.dir, dev: await ensureDevices(places), hostname, ids: settings.ids },
      ...{
        layers: [{ path: layer, ids: 'cell' as const }, ...layers],
        noNewPrivs: false,
        net: null,
      },
      cgroups: await makeCgroups(layout, places.key, copy, {}),
    }
    const pidfile = join(place.dir, 'pid')
    const pid = await restore(criu, spec, { images, dir: place.dir, pidfile })
    await agentListening(place.socket, pid)
    return await askShell(machine, copy, question)
  } finally {
    await machine.destroy(copy)
    await rm(layer, { recursive: true, force: true })
  }
}

async function connect(machine: Machine, id: EnvironmentId) {
  return openConnection(await openAgentSocket(machine.places.env(id).socket, null))
}

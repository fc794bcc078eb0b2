import { join } from 'node:path'
import { execCommand } from '../../../agent/commands/exec.ts'
import { quiesce } from '../../../agent/environment.ts'
import { openConnection } from '../../../agent/wire/connect.ts'
import { openAgentSocket } from '../../../agent/wire/socket.ts'
import { stopwatch } from '../../../linux/stopwatch.ts'
import type { Instance } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import { type EnvironmentId, newSnapshotId } from '../../../model/ids.ts'
import type { CreateSpec } from '../../backend.ts'
import { launch } from '../cell/launch.ts'
import { fromRecord, type NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { capture, discard } from '../snapshot/capture.ts'
import { captureInPlace } from '../snapshot/capture-in-place.ts'

/** What a probe works with: it makes and removes cells as the backend does. */
export interface Machine {
  readonly native: Native
  create(spec: CreateSpec): Promise<Instance>
  destroy(id: EnvironmentId): Promise<void>
}

/** A cell made for a probe, which disposing of it removes. */
export interface ProbeCell extends AsyncDisposable {
  readonly id: EnvironmentId
  readonly instance: NativeInstance
}

function probeSpec(id: EnvironmentId) {
  const identity = { id, name: null, hostname: 'forkpoint-probe', machineId: '0'.repeat(32) }
  return { id, identity, limits: { pids: 64 }, net: { mode: 'none', allow: [] } } as const
}

/** Makes a small environment like any other, but without a record in the store. */
export async function makeProbeCell(machine: Machine, id: EnvironmentId): Promise<ProbeCell> {
  try {
    const made = await machine.create({ ...probeSpec(id), source: { kind: 'host' } })
    return { id, instance: fromRecord(made), [Symbol.asyncDispose]: () => machine.destroy(id) }
  } catch (error) {
    await machine.destroy(id)
    throw error
  }
}

/** Runs a command in the shell of a cell's agent. */
export async function askShell(
  { native }: Machine,
  id: EnvironmentId,
  { slot }: NativeInstance,
  command: string,
): Promise<string> {
  await using connection = await connect(native, id, slot)
  const { stdout, stderr, exitCode } = await execCommand(connection, { mode: 'shell', command })
  if (exitCode === 0) return stdout.toString().trim()
  throw new BackendError(`a command in a new cell ended with ${exitCode}: ${stderr}`, {
    remedy: 'check that /bin/bash works on this machine, then run `forkpoint doctor` again',
  })
}

/** Captures the cell and restores it as `copy`; returns the answer of the restored shell. */
export async function dumpAndRestore(
  machine: Machine,
  cell: ProbeCell,
  copy: EnvironmentId,
  question: string,
): Promise<string> {
  const { native } = machine
  const snapshot = newSnapshotId()
  try {
    await quiesce(await connect(native, cell.id, cell.instance.slot))
    const { id, instance: original } = cell
    const whole = original.files === 'subvolume' ? captureInPlace : capture
    const wanted = { memory: 'auto', after: 'continue', head: null, live: false } as const
    const subject = { id, instance: original, snapshot, ...wanted }
    const { image } = await whole(native, subject, stopwatch())
    const instance = await launch(native, {
      ...probeSpec(copy),
      layers: image.layers,
      files: image.files === undefined ? null : { from: native.places.filesIn(snapshot) },
      images: join(native.places.snapshot(snapshot), 'images'),
      pages: native.places.pages(snapshot),
      replaces: null,
    })
    return await askShell(machine, copy, instance, question)
  } finally {
    await machine.destroy(copy)
    await discard(native, snapshot)
  }
}

async function connect({ places }: Native, id: EnvironmentId, slot: number) {
  return openConnection(await openAgentSocket(places.slot(id, slot).socket, null))
}

import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { BackendError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Ref } from '../../backend.ts'
import { inspectContainer } from '../engine/containers.ts'
import { openExec } from '../engine/execs.ts'
import { EngineRefusal } from '../engine/failures.ts'
import { isGuestAlive } from '../guests/guests.ts'
import { type Guest, lifeOf } from '../instance.ts'
import type { Room } from '../room.ts'
import { agentPath, guestSocket, socketPath } from './container-spec.ts'

/** A relay inside: it works for engines on other machines, too. */
export async function connectTo(room: Room, { id, instance }: Ref): Promise<Duplex> {
  const { container, guest } = lifeOf(instance)
  // The pid may be another process by now, which must not be started as root.
  if (guest !== undefined && !(await isGuestAlive(room, guest))) throw gone(room, id)
  const call = { container, command: relayTo(guest) }
  const stream = await onceResumed(room, container, () => openExec(room.client(), call))
  if (stream === null) throw gone(room, id)
  return stream
}

const mostTries = 20
const pauseMs = 50

const mayRun = ['running', 'paused']
/** What an engine answers if the state of a container does not allow a call. */
const conflict = 409

/**
 * Docker can still take a container for paused a moment after it has resumed it: its events come late. It may
 * have learnt of it by the time we ask, so one that runs is tried again, too.
 */
async function onceResumed<T>(room: Room, container: string, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const isConflict = error instanceof EngineRefusal && error.status === conflict
      if (!isConflict || tries === mostTries) throw error
      const found = await inspectContainer(room.client(), container)
      if (!mayRun.includes(found?.State.Status ?? '')) throw error
      await sleep(pauseMs)
    }
  }
}

/** Only to the agent itself, not to what code inside has put in its place. */
function relayTo(guest: Guest | undefined): string[] {
  if (guest === undefined) return [agentPath, '--relay', socketPath, '--listener', '1']
  const { pid, program, directory } = guest
  return [program, '--relay', guestSocket(directory), '--listener', String(pid)]
}

function gone({ kind: { name } }: Room, id: EnvironmentId): BackendError {
  return new BackendError(`the container of ${id} is gone: ${name} does not know it`, {
    remedy: 'bring the environment back from its last snapshot with `forkpoint resume`',
  })
}

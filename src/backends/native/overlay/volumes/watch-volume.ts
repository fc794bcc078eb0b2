import { setTimeout as sleep } from 'node:timers/promises'
import type { Native } from '../../native.ts'
import { isRoot } from '../../prerequisites.ts'
import { fitFilesVolume, giveBackDeleted } from './fit.ts'
import { type HostRoom, hostRoom, isNearlyFull } from './room.ts'

/** How often to look: more often when others could use up the reserve of the disk in the meantime. */
const seldomMs = 2000
const oftenMs = 250
const giveBackMs = 10_000

/** Fits the volume to the disk from time to time, as long as the backend is open. */
export function watchVolume(native: Native): AsyncDisposable {
  const stop = new AbortController()
  const watching = watchUntil(native, stop.signal)
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await watching
    },
  }
}

async function watchUntil(native: Native, signal: AbortSignal): Promise<void> {
  for (let gaveBackAt = 0; !signal.aborted; ) {
    const often = isNearlyFull(await hostRoom(native.places).catch(() => unknownRoom))
    await sleep(often ? oftenMs : seldomMs, undefined, { ref: false, signal }).catch(() => {})
    if (signal.aborted) return
    await orWarn(native, fitFilesVolume)
    if (!often || performance.now() < gaveBackAt + giveBackMs) continue
    await orWarn(native, giveBackDeleted)
    gaveBackAt = performance.now()
  }
}

/** The home does not exist yet, or no longer does. */
const unknownRoom: HostRoom = { free: Number.POSITIVE_INFINITY, reserve: 0 }

/** A volume that does not fit is no reason to fail: what the disk cannot store is refused by `requireRoom`. */
async function orWarn(native: Native, work: (native: Native) => Promise<void>): Promise<void> {
  if (!isRoot()) return
  try {
    await work(native)
  } catch (err) {
    native.log.warn({ err }, 'the volume could not be fitted to the disk')
  }
}

export function fitOrWarn(native: Native): Promise<void> {
  return orWarn(native, fitFilesVolume)
}

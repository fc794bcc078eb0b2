import { type Noted, nothingNoted, parseNoted } from '../../../criu/images/noted.ts'
import { type TrackedLife, trackingWords } from '../../../criu/tracking/tracker.ts'
import type { Talk } from '../../../linux/spawner.ts'
import type { Ended } from '../../../linux/spawner-wire.ts'
import { BackendError } from '../../../model/errors.ts'
import type { Cgroups } from '../cell/cgroup.ts'
import { isFrozen, thaw } from '../cell/freezer.ts'
import type { Native } from '../native.ts'
import { freezePatiently, type Held, holdStill } from './hold-still.ts'

/** The helpers that keep the waits of cells over a freeze, by the cell's first cgroup. */
export type KeptWaits = Map<string, Talk>

type Waiting = Pick<Native, 'log' | 'tools' | 'waits'>

/** What follows the freeze. */
interface ComingDump {
  /** directory of the dump, which begins once the helper has seen what was interrupted */
  readonly images: string
  /** directory where the helper lists the areas of large processes, once they are frozen; null: nowhere */
  readonly listings: string | null
}

/**
 * Notes since when threads wait. Call it right before the freeze: the kernel does not tell later. If it fails,
 * nothing may be frozen, because calls inside would end with EINTR.
 */
export async function noteWaits(
  { tools, waits }: Pick<Waiting, 'tools' | 'waits'>,
  [cgroup]: Cgroups,
  dump?: ComingDump,
): Promise<void> {
  await forgetWaits({ waits }, [cgroup])
  const places = [dump?.images, dump?.listings].filter((place) => typeof place === 'string')
  const talk = await tools.talkToCell(['waits', cgroup, ...places])
  if (talk.said !== 'noted') throw notNoted(await talk.tell(''))
  waits.set(cgroup, talk)
}

function notNoted(ended: Ended): BackendError {
  return new BackendError(`nobody knows what the programs inside wait for: ${lastWords(ended)}`, {
    remedy: 'try again: nothing was stopped',
  })
}

/**
 * Lets a frozen cell continue. Calls that the freeze or a dump has ended are made again, with the time
 * that was left. Returns those that a copy of the cell has to make again, too, and what else was noted beside
 * the dump. After it, what the processes write from here on is noted for the next one.
 */
export async function continueOriginal(
  native: Waiting,
  cgroups: Cgroups,
  tracked?: TrackedLife,
): Promise<Noted> {
  const found = await tell(native, cgroups, 'continue', tracked)
  // Also if the helper has done it: nothing else may leave the cell frozen.
  if (isFrozen(cgroups)) await thaw(cgroups)
  return found
}

/**
 * The same if nothing was dumped, for a live copy. `prepare`: its processes can then be tracked. `live`: what
 * they write from here on is noted.
 */
export async function continueForLiveCopy(
  native: Waiting,
  cgroups: Cgroups,
  tracked: TrackedLife,
  step: 'prepare' | 'live',
): Promise<void> {
  await tell(native, cgroups, step, tracked)
  if (isFrozen(cgroups)) await thaw(cgroups)
}

/** The same for a cell that stays frozen: the calls are made again once it is thawed. */
export async function holdOriginal(
  native: Waiting,
  cgroups: Cgroups,
  tracked?: TrackedLife,
): Promise<Noted> {
  return await tell(native, cgroups, 'hold', tracked)
}

/** Only returns what copies need. The cell stays as it is, because a successor takes its place. */
export async function notesOfOriginal(native: Waiting, cgroups: Cgroups): Promise<Noted> {
  return await tell(native, cgroups, 'end')
}

/** Ends the helper of a cell that is about to end, and that nobody has continued after a failure. */
export async function forgetWaits(
  { waits }: Pick<Waiting, 'waits'>,
  [cgroup]: Cgroups,
): Promise<void> {
  await waits.get(cgroup)?.tell('')
  waits.delete(cgroup)
}

/** Freezes a cell that will be continued with `continueOriginal`. */
export function freezeNoting(native: Waiting, cgroups: Cgroups): Promise<Held<void>> {
  return holdStill(cgroups, {
    prepare: async () => {
      if (!isFrozen(cgroups)) await noteWaits(native, cgroups)
    },
    work: async () => {},
    letGo: () => continueOriginal(native, cgroups),
  })
}

/** Freezes a cell until somebody thaws it. Its waits then continue with the time that is left now. */
export async function freezeForLong(native: Waiting, cgroups: Cgroups): Promise<void> {
  await freezeNoting(native, cgroups)
  await holdOriginal(native, cgroups)
  // The helper does not wait until all are frozen again, and may have failed.
  await freezePatiently(cgroups)
}

async function tell(
  { log, waits }: Waiting,
  [cgroup]: Cgroups,
  word: 'continue' | 'prepare' | 'live' | 'hold' | 'end',
  tracked?: TrackedLife,
): Promise<Noted> {
  const talk = waits.get(cgroup)
  if (talk === undefined) return nothingNoted
  waits.delete(cgroup)
  try {
    const words = tracked === undefined ? '' : trackingWords(tracked)
    return notesIn(await talk.tell(`${word}${words}\n`))
  } catch (error) {
    log.error({ cgroup, err: error }, 'some waits inside ended early')
    return nothingNoted
  }
}

function notesIn(ended: Ended): Noted {
  if (ended.exitCode === 0) return parseNoted(ended.stdout)
  throw new Error(lastWords(ended))
}

function lastWords({ exitCode, signal, stderr }: Ended): string {
  return stderr.trim() || `the helper ended with ${signal ?? exitCode}`
}

import { randomBytes } from 'node:crypto'
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { ConflictError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { identify, selfIdentity } from '../../system/process-identity.ts'
import type { Step } from './plan.ts'
import type { TargetDirectory } from './target-directory.ts'

const O_PATH_NOFOLLOW = 0o10000000 | 0o400000

/**
 * A directory in the target, on its file system, that holds what is to come (`new`) and what was
 * there (`old`). Its name tells which process works in it. As long as it holds the plan, the plan
 * can be undone, by whoever finds it; without one, it is finished with.
 */
const namePattern = /^\.forkpoint-apply-(\d+)-(\d+)-[0-9a-f]{16}$/

export interface Staging {
  readonly target: TargetDirectory
  readonly name: string
}

export async function makeStaging(target: TargetDirectory): Promise<Staging> {
  const { pid, startTicks } = selfIdentity()
  const name = `.forkpoint-apply-${pid}-${startTicks}-${randomBytes(8).toString('hex')}`
  await mkdir(target.own(name), 0o700)
  const staging = { target, name }
  for (const part of ['new', 'old']) await mkdir(target.own(`${name}/${part}`), 0o700)
  return staging
}

export function newPlace({ target, name }: Staging, slot: number | null = null): string {
  return target.own(slot === null ? `${name}/new` : `${name}/new/${slot}`)
}

function oldPlace({ target, name }: Staging, slot: number): string {
  return target.own(`${name}/old/${slot}`)
}

function planPlace({ target, name }: Staging): string {
  return target.own(`${name}/plan.json`)
}

/** Takes all steps, or none: whatever fails, what was done is undone. */
export async function runSteps(staging: Staging, steps: readonly Step[]): Promise<void> {
  const draft = `${planPlace(staging)}.new`
  await writeFile(draft, JSON.stringify(steps), { mode: 0o600, flush: true })
  await rename(draft, planPlace(staging))
  try {
    for (const step of steps) await take(staging, step)
  } catch (error) {
    await undo(staging, steps)
    throw error
  }
  await rm(planPlace(staging))
}

/**
 * Removes it, unless what it holds could not be put back: then it is left for the next call, under a
 * name of no process.
 */
export async function closeStaging(staging: Staging): Promise<void> {
  const { target, name } = staging
  if (!(await isThere(planPlace(staging)))) {
    await rm(target.own(name), { recursive: true, force: true })
    return
  }
  const left = `.forkpoint-apply-0-0-${name.slice(-16)}`
  await rename(target.own(name), target.own(left))
  throw new ConflictError(`cannot put back what was in ${quote(target.path)}`, {
    remedy: `what is missing there is in ${left}; call apply again once it can be written to`,
  })
}

async function take(staging: Staging, step: Step): Promise<void> {
  await staging.target.at(step.path, async (place) => {
    switch (step.do) {
      case 'keep':
        return link(place, oldPlace(staging, step.slot))
      case 'away':
        return rename(place, oldPlace(staging, step.slot))
      case 'put':
        return rename(newPlace(staging, step.slot), place)
      case 'chmod':
        return chmodEntry(place, step.to)
    }
  })
}

/**
 * Undoes the steps that were taken, which shows in where things are: the same for a step that failed
 * and for a process that was killed.
 */
async function undo(staging: Staging, steps: readonly Step[]): Promise<void> {
  for (const step of steps.toReversed()) {
    if (step.do === 'put' && (await isThere(newPlace(staging, step.slot)))) continue
    if (step.do === 'keep' || step.do === 'away') {
      if (!(await isThere(oldPlace(staging, step.slot)))) continue
    }
    await staging.target.at(step.path, async (place) => {
      if (step.do === 'chmod') await chmodEntry(place, step.from)
      else if (step.do === 'put') await rename(place, newPlace(staging, step.slot))
      else await rename(oldPlace(staging, step.slot), place)
    })
  }
  await rm(planPlace(staging))
}

/** Undoes what a killed process left half-done in this directory. */
export async function recover(target: TargetDirectory): Promise<void> {
  for (const name of await readdir(target.own(''))) {
    const match = namePattern.exec(name)
    if (!match) continue
    const { uid } = await lstat(target.own(name))
    if (uid !== process.geteuid?.()) continue
    const [, pid, startTicks] = match.map(Number)
    if (identify(pid ?? 0)?.startTicks === startTicks) throw busy(target)
    const staging = { target, name }
    const plan = await readFile(planPlace(staging), 'utf8').catch(() => null)
    if (plan !== null) await undo(staging, JSON.parse(plan) as Step[])
    await closeStaging(staging)
  }
}

function busy(target: TargetDirectory): ConflictError {
  return new ConflictError(`another apply is at work in ${quote(target.path)}`, {
    remedy: 'wait until it has ended',
  })
}

/** Never the target of a symlink: the entry itself is held, and changed through what holds it. */
async function chmodEntry(place: Buffer, mode: number): Promise<void> {
  await using entry = await open(place, O_PATH_NOFOLLOW)
  await chmod(`/proc/self/fd/${entry.fd}`, mode)
}

async function isThere(place: string): Promise<boolean> {
  return lstat(place).then(
    () => true,
    () => false,
  )
}

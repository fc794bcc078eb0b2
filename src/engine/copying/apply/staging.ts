import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, link, lstat, mkdir, rename } from 'node:fs/promises'
import { holdEntry, openDirectory, reachable, within } from '../../../agent/files/host-path.ts'
import { removeHostTree } from '../../../agent/files/host-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { BackendError } from '../../../model/errors.ts'
import { quote } from '../../../model/quote.ts'
import type { Step } from './plan.ts'
import { type Identity, namesOf, type TargetDirectory } from './target-directory.ts'

const namePattern = /^\.forkpoint-apply-[0-9a-f]{32}$/

/** Nobody can guess it: what is found under it in the target, we made. */
export function newStagingName(): string {
  return `.forkpoint-apply-${randomBytes(16).toString('hex')}`
}

/**
 * A directory in the target, on its file system, that holds what is to come (`new`) and what was
 * there (`old`). The journal knows its name. It is held open, and so are its parts.
 */
export class Staging implements AsyncDisposable {
  readonly target: TargetDirectory
  readonly name: string
  readonly inode: string
  readonly #parts: { readonly new: FileHandle; readonly old: FileHandle }

  private constructor(
    target: TargetDirectory,
    name: string,
    inode: string,
    parts: { readonly new: FileHandle; readonly old: FileHandle },
  ) {
    this.target = target
    this.name = name
    this.inode = inode
    this.#parts = parts
  }

  static async make(target: TargetDirectory, name: string): Promise<Staging> {
    await mkdir(within(target.root, requireOurs(name)), 0o700)
    await using whole = await openDirectory(within(target.root, name))
    for (const part of ['new', 'old']) await mkdir(within(whole, part), 0o700)
    return await Staging.#open(target, name, whole)
  }

  /** The one that an interrupted apply left: null if it is gone. It must be the very one. */
  static async find(
    target: TargetDirectory,
    name: string,
    inode: Identity['inode'],
  ): Promise<Staging | null> {
    const place = within(target.root, requireOurs(name))
    if (!(await isThere(place))) return null
    await using whole = await openDirectory(place)
    const staging = await Staging.#open(target, name, whole)
    if (staging.inode === inode) return staging
    await staging[Symbol.asyncDispose]()
    throw new BackendError(`${quote(name)} in ${quote(target.path)} is not what apply made there`, {
      remedy: 'see what is in it, and put back by hand what is missing in the directory',
    })
  }

  static async #open(target: TargetDirectory, name: string, whole: FileHandle): Promise<Staging> {
    const { ino } = await whole.stat({ bigint: true })
    const [coming, gone] = [within(whole, 'new'), within(whole, 'old')]
    const parts = { new: await openDirectory(coming), old: await openDirectory(gone) }
    return new Staging(target, name, String(ino), parts)
  }

  /** Where another process reaches the directory of what is to come. */
  get newDirectory(): string {
    return reachable(this.#parts.new)
  }

  place(part: 'new' | 'old', slot: number): Buffer {
    return within(this.#parts[part], String(slot))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.new.close()
    await this.#parts.old.close()
  }
}

export async function removeStaging(target: TargetDirectory, name: string): Promise<void> {
  await removeHostTree(target.root, requireOurs(name))
}

function requireOurs(name: string): string {
  if (namePattern.test(name)) return name
  throw new BackendError(`not a name that apply uses: ${quote(name)}`)
}

/** Takes all steps; what was done before one fails is for `undoSteps`. */
export async function takeSteps(staging: Staging, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    await take(staging, step)
    killPoint('apply:taken')
  }
}

async function take(staging: Staging, step: Step): Promise<void> {
  await atStep(staging, step, async (place) => {
    switch (step.do) {
      case 'keep':
        return await link(place, staging.place('old', step.slot))
      case 'away':
        return await rename(place, staging.place('old', step.slot))
      case 'put':
        return await rename(staging.place('new', step.slot), place)
      case 'chmod':
        return await chmodEntry(place, step, step.to)
    }
  })
}

/**
 * Undoes the steps that were taken, which shows in where things are: the same for a step that failed
 * and for a process that was killed.
 */
export async function undoSteps(staging: Staging, steps: readonly Step[]): Promise<void> {
  for (const step of steps.toReversed()) {
    if (step.do === 'put' && (await isThere(staging.place('new', step.slot)))) continue
    if (step.do === 'keep' || step.do === 'away') {
      if (!(await isThere(staging.place('old', step.slot)))) continue
    }
    await atStep(staging, step, async (place) => {
      if (step.do === 'chmod') await chmodEntry(place, step, step.from)
      else if (step.do === 'put') await rename(place, staging.place('new', step.slot))
      else await rename(staging.place('old', step.slot), place)
    })
  }
}

async function atStep(
  { target, name }: Staging,
  { path }: Step,
  work: (place: Buffer) => Promise<void>,
): Promise<void> {
  if (namesOf(path)[0] === name) throw new BackendError(`a step would change ${quote(path)} itself`)
  await target.at(path, work)
  await target.forget(path)
}

/** Never the target of a symlink, nor another file that has come in its place. */
async function chmodEntry(place: Buffer, step: { inode: string }, mode: number): Promise<void> {
  await using entry = await holdEntry(place)
  const { ino } = await entry.stat({ bigint: true })
  if (String(ino) === step.inode) await chmod(`/proc/self/fd/${entry.fd}`, mode)
}

async function isThere(place: Buffer): Promise<boolean> {
  return await lstat(place).then(
    () => true,
    () => false,
  )
}

import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, link, lstat, mkdir, rename } from 'node:fs/promises'
import { holdEntry, openDirectory, within } from '../../../agent/files/host-path.ts'
import { removeHostTree } from '../../../agent/files/host-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { BackendError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { namesOf } from '../paths.ts'
import type { Step } from './plan.ts'
import type { Identity, TargetDirectory } from './target-directory.ts'

const tampered = 'check the target yourself: somebody may have tampered with the plan of that apply'

const namePattern = /^\.forkpoint-apply-[0-9a-f]{32}$/

/** Nobody can guess it, so whatever has this name in the target is ours. */
export function newStagingName(): string {
  return `.forkpoint-apply-${randomBytes(16).toString('hex')}`
}

/**
 * A directory in the target, on the same file system, that holds the new entries (`new`) and the
 * replaced ones (`old`). The claim of the apply contains its name. It and its parts are held open.
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

  /** The staging directory that an interrupted apply left; null if it is gone. Throws if it is another one. */
  static async find(
    target: TargetDirectory,
    name: string,
    inode: Identity['inode'],
  ): Promise<Staging | null> {
    const place = within(target.root, requireOurs(name))
    if (!(await exists(place))) return null
    await using whole = await openDirectory(place)
    const staging = await Staging.#open(target, name, whole)
    if (staging.inode === inode) return staging
    await staging[Symbol.asyncDispose]()
    throw new BackendError(
      `${quote(name)} in ${quote(target.path)} is not the directory that apply made`,
      {
        remedy: 'look into it, and put back by hand what is missing in the target',
      },
    )
  }

  static async #open(target: TargetDirectory, name: string, whole: FileHandle): Promise<Staging> {
    const { ino } = await whole.stat({ bigint: true })
    const parts = {
      new: await openDirectory(within(whole, 'new')),
      old: await openDirectory(within(whole, 'old')),
    }
    return new Staging(target, name, String(ino), parts)
  }

  /** The directory of new entries. */
  get newDirectory(): { readonly fd: number } {
    return this.#parts.new
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
  throw new BackendError(`not a name of a staging directory: ${quote(name)}`, { remedy: tampered })
}

/** Takes all steps. If one fails, the caller undoes the others with `undoSteps`. */
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
 * Undoes the steps that were taken. Where the entries are shows which: this works after a failed step
 * and after a kill.
 */
export async function undoSteps(staging: Staging, steps: readonly Step[]): Promise<void> {
  for (const step of steps.toReversed()) {
    if (step.do === 'put' && (await exists(staging.place('new', step.slot)))) continue
    if (step.do === 'keep' || step.do === 'away') {
      if (!(await exists(staging.place('old', step.slot)))) continue
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
  if (namesOf(path)[0] === name) {
    throw new BackendError(`a step would change the staging directory itself: ${quote(path)}`, {
      remedy: tampered,
    })
  }
  await target.at(path, work)
  await target.forget(path)
}

/** Never changes the target of a symlink, or another file that took its place. */
async function chmodEntry(place: Buffer, step: { inode: string }, mode: number): Promise<void> {
  await using entry = await holdEntry(place)
  const { ino } = await entry.stat({ bigint: true })
  if (String(ino) === step.inode) await chmod(`/proc/self/fd/${entry.fd}`, mode)
}

/** Its directory is held open, so a failure means that the entry does not exist. */
async function exists(place: Buffer): Promise<boolean> {
  return await lstat(place).then(
    () => true,
    () => false,
  )
}

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BackendError } from '../../../model/errors.ts'
import type { OperationId } from '../../../model/ids.ts'
import { quote } from '../../../model/quote.ts'
import type { Step } from './plan.ts'
import { namesOf } from './target-directory.ts'

/**
 * The steps of an apply, while they are taken. It lies in the home, which only root can enter, under
 * the id of its operation in the journal: never in the target, where a file from inside could pass
 * for it. As long as it is there, the steps can be undone.
 */
export interface SavedPlan {
  /** of the target and of the staging directory in it */
  readonly inodes: { readonly target: string; readonly staging: string }
  readonly steps: readonly Step[]
}

const version = 1
/** Two million steps with long paths. */
const mostBytes = 1024 ** 3

export function planPath(home: string, id: OperationId): string {
  return join(home, 'applies', `${id}.json`)
}

export async function savePlan(home: string, id: OperationId, plan: SavedPlan): Promise<void> {
  await mkdir(join(home, 'applies'), { recursive: true, mode: 0o700 })
  const draft = `${planPath(home, id)}.new`
  await rm(draft, { force: true })
  {
    await using file = await open(draft, 'wx', 0o600)
    await writeSteps(file, plan)
    await file.sync()
  }
  await rename(draft, planPath(home, id))
}

/** A line for each step: one text of them all might be longer than a string can be. */
async function writeSteps(file: FileHandle, { steps, inodes }: SavedPlan): Promise<void> {
  await file.write(`${JSON.stringify({ version, inodes, steps: steps.length })}\n`)
  for (let at = 0; at < steps.length; at += 1024) {
    const some = steps.slice(at, at + 1024).map((step) => `${JSON.stringify(step)}\n`)
    await file.write(some.join(''))
  }
}

export async function removePlan(home: string, id: OperationId): Promise<void> {
  await rm(planPath(home, id), { force: true })
  await rm(`${planPath(home, id)}.new`, { force: true })
}

/** Null where there is none. */
export async function readPlan(home: string, id: OperationId): Promise<SavedPlan | null> {
  const path = planPath(home, id)
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const opened = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw malformed(path, error.message)
    },
  )
  if (opened === null) return null
  await using file = opened
  const info = await file.stat()
  if (!info.isFile()) throw malformed(path, 'it is no regular file')
  if (info.uid !== process.geteuid?.() || (info.mode & 0o022) !== 0) {
    throw malformed(path, 'others than its owner can write it')
  }
  if (info.size > mostBytes) throw malformed(path, `it has ${info.size} bytes`)
  try {
    return await parsePlan(file)
  } catch (error) {
    throw malformed(path, (error as Error).message)
  }
}

async function parsePlan(file: FileHandle): Promise<SavedPlan> {
  let head: { inodes: SavedPlan['inodes']; count: number } | null = null
  const steps: Step[] = []
  for await (const line of file.readLines({ autoClose: false })) {
    const value: unknown = JSON.parse(line)
    if (head === null) head = parseHead(value)
    else steps.push(parseStep(value))
  }
  if (head === null || head.count !== steps.length) throw new Error('it ends early')
  return { inodes: head.inodes, steps }
}

type Fields = Readonly<Record<string, unknown>>

function parseHead(value: unknown) {
  const head = fieldsOf(value)
  const inodes = fieldsOf(head.inodes)
  if (head.version !== version) throw new Error(`it is of version ${quote(head.version)}`)
  return {
    inodes: { target: text(inodes.target), staging: text(inodes.staging) },
    count: number(head.steps),
  }
}

function parseStep(value: unknown): Step {
  const step = fieldsOf(value)
  const path = text(step.path)
  namesOf(path)
  switch (step.do) {
    case 'keep':
    case 'away':
    case 'put':
      return { do: step.do, path, slot: number(step.slot) }
    case 'chmod': {
      const [from, to] = [number(step.from) & 0o7777, number(step.to) & 0o7777]
      return { do: 'chmod', path, from, to, inode: text(step.inode) }
    }
    default:
      throw new Error(`not a step: ${quote(step.do)}`)
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields
  throw new Error(`not an object: ${quote(value)}`)
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`not a text: ${quote(value)}`)
}

function number(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`not a number: ${quote(value)}`)
}

function malformed(path: string, why: string): BackendError {
  return new BackendError(`cannot read the plan of an interrupted apply, ${path}: ${why}`, {
    remedy: 'look at the target yourself; without that file, the apply is taken to have ended',
  })
}

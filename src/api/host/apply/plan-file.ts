import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BackendError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { requirePlain } from '../paths.ts'
import type { Step } from './plan.ts'
import { fieldsOf, number, openPrivate, text } from './private-file.ts'

/**
 * The steps of an apply, saved while they are taken. The file is next to the claim of the apply, never
 * in the target, where a file from inside could pass for it. While it exists, the steps can be undone.
 */
export interface SavedPlan {
  /** inodes of the target and of the staging directory in it */
  readonly inodes: { readonly target: string; readonly staging: string }
  readonly steps: readonly Step[]
}

const version = 1
/** Two million steps with long paths. */
const mostBytes = 1024 ** 3

export function planPath(dir: string, id: string): string {
  return join(dir, `${id}.json`)
}

export async function savePlan(dir: string, id: string, plan: SavedPlan): Promise<void> {
  const draft = `${planPath(dir, id)}.new`
  await rm(draft, { force: true })
  {
    await using file = await open(draft, 'wx', 0o600)
    await writeSteps(file, plan)
    await file.sync()
  }
  await rename(draft, planPath(dir, id))
}

/** Writes one line per step, because all of them together may exceed the length of a string. */
async function writeSteps(file: FileHandle, { steps, inodes }: SavedPlan): Promise<void> {
  await file.write(`${JSON.stringify({ version, inodes, steps: steps.length })}\n`)
  for (let at = 0; at < steps.length; at += 1024) {
    const some = steps.slice(at, at + 1024).map((step) => `${JSON.stringify(step)}\n`)
    await file.write(some.join(''))
  }
}

export async function removePlan(dir: string, id: string): Promise<void> {
  await rm(planPath(dir, id), { force: true })
  await rm(`${planPath(dir, id)}.new`, { force: true })
}

/** Null if it does not exist. */
export async function readPlan(dir: string, id: string): Promise<SavedPlan | null> {
  const path = planPath(dir, id)
  const file = await openPrivate(path, mostBytes).catch((error) => {
    throw malformed(path, (error as Error).message)
  })
  if (file === null) return null
  await using _closing = file
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

function parseHead(value: unknown) {
  const head = fieldsOf(value)
  const inodes = fieldsOf(head.inodes)
  if (head.version !== version) throw new Error(`its version is ${quote(head.version)}`)
  return {
    inodes: { target: text(inodes.target), staging: text(inodes.staging) },
    count: number(head.steps),
  }
}

function parseStep(value: unknown): Step {
  const step = fieldsOf(value)
  const path = text(step.path)
  requirePlain(path)
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

function malformed(path: string, why: string): BackendError {
  return new BackendError(`cannot read the plan of an interrupted apply, ${path}: ${why}`, {
    remedy: 'check the target yourself, then remove that file: the apply then counts as done',
  })
}

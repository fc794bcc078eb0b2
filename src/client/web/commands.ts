import * as z from 'zod/mini'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import type { Fetcher } from './fetcher.ts'

const commandState = z.object({
  id: z.string(),
  command: z.string(),
  pid: z.nullable(z.number()),
  running: z.boolean(),
  /** for how long it has run, or ran; null if it is not known */
  durationMs: z.nullable(z.number()),
  /** null while it runs */
  exit: z.nullable(z.object({ exitCode: z.nullable(z.number()), signal: z.nullable(z.string()) })),
})

/** A command that runs inside, or ran lately. */
export type CommandState = Readonly<z.infer<typeof commandState>>

const processState = z.object({
  pid: z.number(),
  parent: z.number(),
  uid: z.number(),
  /** as `ps` shows it: `R`, `S`, `D`, `T`, `Z` … */
  state: z.string(),
  memoryBytes: z.number(),
  command: z.string(),
})

/** A process inside. */
export type ProcessState = Readonly<z.infer<typeof processState>>

interface Abortable {
  readonly signal?: AbortSignal
}

export async function listCommands(
  fetcher: Fetcher,
  id: string,
  options: Abortable,
): Promise<readonly CommandState[]> {
  return await list(fetcher, id, { ...options, below: insidePaths.commands, item: commandState })
}

export async function listProcesses(
  fetcher: Fetcher,
  id: string,
  options: Abortable,
): Promise<readonly ProcessState[]> {
  return await list(fetcher, id, { ...options, below: insidePaths.processes, item: processState })
}

interface Wanted<T> extends Abortable {
  readonly below: string
  readonly item: z.ZodMiniType<T>
}

async function list<T>(
  fetcher: Fetcher,
  id: string,
  { signal, below, item }: Wanted<T>,
): Promise<readonly T[]> {
  const path = filledPath(insidePath(below), () => id)
  const sent = { method: 'GET', path, signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(z.array(item), answer, { where: fetcher.where, name: below })
}

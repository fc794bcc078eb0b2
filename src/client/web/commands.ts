import * as z from 'zod/mini'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import { withQuery } from '../link/sent.ts'
import type { Fetcher } from './fetcher.ts'
import { type Abortable, listInside } from './inside.ts'

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

export interface ListCommandsOptions extends Abortable {
  /** also the one that ran to its end most lately */
  readonly last?: boolean
}

export async function listCommands(
  fetcher: Fetcher,
  id: string,
  { last, ...options }: ListCommandsOptions,
): Promise<readonly CommandState[]> {
  return await listInside(fetcher, id, {
    ...options,
    below: insidePaths.commands,
    query: { last },
    item: commandState,
  })
}

export async function listProcesses(
  fetcher: Fetcher,
  id: string,
  options: Abortable,
): Promise<readonly ProcessState[]> {
  return await listInside(fetcher, id, {
    ...options,
    below: insidePaths.processes,
    item: processState,
  })
}

const outputSoFar = z.object({ stdout: z.string(), stderr: z.string(), running: z.boolean() })

/** What a command has printed: the last MiB of each stream. */
export type CommandOutput = Readonly<z.infer<typeof outputSoFar>>

/** Nobody waits for the end of a command that runs. */
const waitMs = 100

/** Leaves the output to whoever follows the command. */
export async function commandOutput(
  fetcher: Fetcher,
  id: string,
  command: string,
  { signal }: Abortable,
): Promise<CommandOutput> {
  const template = insidePath(insidePaths.output)
  const path = filledPath(template, (field) => (field === 'id' ? id : command))
  const sent = { method: 'GET', path: withQuery(path, { waitMs, readAlong: true }), signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(outputSoFar, answer, { where: fetcher.where, name: 'command.output' })
}

import * as z from 'zod/mini'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import type { Fetcher } from './fetcher.ts'

const commandState = z.object({
  id: z.string(),
  command: z.string(),
  pid: z.nullable(z.number()),
  running: z.boolean(),
  /** null while it runs */
  exit: z.nullable(z.object({ exitCode: z.nullable(z.number()), signal: z.nullable(z.string()) })),
})

/** A command that runs inside, or ran lately. */
export type CommandState = Readonly<z.infer<typeof commandState>>

export async function listCommands(
  fetcher: Fetcher,
  id: string,
  { signal }: { readonly signal?: AbortSignal },
): Promise<readonly CommandState[]> {
  const path = filledPath(insidePath(insidePaths.commands), () => id)
  const answer: unknown = await fetcher.send({ method: 'GET', path, signal }, (response) =>
    response.json(),
  )
  const from = { where: fetcher.where, name: 'commands' }
  return parsedAnswer(z.array(commandState), answer, from)
}

import * as z from 'zod/mini'
import { filledPath, insidePath, insidePaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import type { Fetcher } from './fetcher.ts'
import { type Abortable, listInside } from './inside.ts'

const terminalState = z.object({
  name: z.string(),
  pid: z.number(),
  running: z.boolean(),
  cols: z.number(),
  rows: z.number(),
})

/** A terminal inside that was started. */
export type TerminalState = Readonly<z.infer<typeof terminalState>>

export async function listTerminals(
  fetcher: Fetcher,
  id: string,
  options: Abortable,
): Promise<readonly TerminalState[]> {
  return await listInside(fetcher, id, {
    ...options,
    below: insidePaths.terminals,
    item: terminalState,
  })
}

export async function closeTerminal(fetcher: Fetcher, id: string, name: string): Promise<void> {
  const template = insidePath(insidePaths.terminal)
  const path = filledPath(template, (field) => (field === 'id' ? id : name))
  await fetcher.send({ method: 'DELETE', path }, async () => {})
}

export async function listPorts(
  fetcher: Fetcher,
  id: string,
  options: Abortable,
): Promise<readonly number[]> {
  return await listInside(fetcher, id, { ...options, below: insidePaths.ports, item: z.number() })
}

const portLink = z.object({ path: z.string(), expiresAt: z.number() })

/** Where a browser opens a port inside: a path of the daemon that is a secret, for this port alone. */
export type PortLink = Readonly<z.infer<typeof portLink>>

export async function linkPort(
  fetcher: Fetcher,
  id: string,
  port: number,
  { signal }: Abortable,
): Promise<PortLink> {
  const path = filledPath(insidePath(insidePaths.portLinks), () => id)
  const sent = { method: 'POST', path, body: JSON.stringify({ port }), signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(portLink, answer, { where: fetcher.where, name: 'port.link' })
}

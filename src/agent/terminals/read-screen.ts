import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { renderScreen, type ScreenText } from './screen.ts'
import { attachTerminal } from './terminals.ts'

/** What the terminal `name` shows now. */
export async function readScreen(
  connection: AgentConnection,
  name: string,
  options: CallOptions = {},
): Promise<ScreenText> {
  const viewer = await attachTerminal(connection, name, options)
  try {
    const size = await viewer.opened()
    return await renderScreen(await viewer.readReplay(), size)
  } finally {
    viewer.detach()
  }
}

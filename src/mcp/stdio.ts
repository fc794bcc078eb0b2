import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { ForkpointHandle } from '../api/handles/forkpoint.ts'
import type { McpOptions } from './options.ts'
import { mcpSession } from './server.ts'

/** Serves one client on stdin and stdout until it goes away or `ended` resolves. */
export async function serveStdio(
  forkpoint: ForkpointHandle,
  options: McpOptions,
  ended: Promise<unknown>,
): Promise<void> {
  await using session = mcpSession(forkpoint, options)
  const closed = Promise.withResolvers<void>()
  const transport = new StdioServerTransport()
  session.server.server.onclose = () => closed.resolve()
  // The transport itself does not notice the end of stdin.
  process.stdin.once('end', () => closed.resolve())
  await session.server.connect(transport)
  await Promise.race([closed.promise, ended])
}

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { ForkpointHandle } from '../api/handles/forkpoint.ts'
import { InvalidInputError } from '../model/errors.ts'
import { closest } from '../model/text/closest.ts'
import { quote } from '../model/text/quote.ts'
import { version } from '../model/values/version.ts'
import { forkdTools } from './forkd/forkd-tools.ts'
import type { McpOptions } from './options.ts'
import { addPrompts } from './prompts.ts'
import { addResources } from './resources.ts'
import type { Tool } from './tool.ts'
import { forkpointTools } from './tools/all.ts'
import { Workspace } from './workspace.ts'

/** More elements than a list of commands or paths needs; nesting cannot make a small message costly. */
const mostElements = 10_000

const instructions = `Forkpoint gives you live Linux environments that can be branched: files, running processes and terminals together, in a fraction of a second.

How to work with it:
1. Create one environment and bring it into a useful state once (clone, install, reproduce the problem).
2. Take a snapshot there, and before every risky step. Name it.
3. If there is more than one plausible way forward, do not try them one after the other: use try_commands with a check, or fork and work in the forks.
4. Compare with exec and diff. Promote the best into the original environment.
5. If something went wrong, restore the snapshot instead of repairing by hand.
6. Remove the forks that you no longer need. Snapshots stay until they are removed.`

export interface McpSession extends AsyncDisposable {
  readonly server: McpServer
}

/** A server of the protocol for one client, over the handles of one Forkpoint. */
export function mcpSession(forkpoint: ForkpointHandle, options: McpOptions): McpSession {
  const tools = allowedTools(options)
  const server = new McpServer(
    { name: 'forkpoint', title: 'Forkpoint', version },
    {
      instructions: options.tools === 'forkpoint' ? instructions : '',
      maxToolInputElements: mostElements,
    },
  )
  const workspace = new Workspace(forkpoint, options)
  for (const tool of tools) tool.addTo(server, workspace)
  addResources(server, workspace, new Set(tools.map(({ name }) => name)))
  addPrompts(server)
  return {
    server,
    [Symbol.asyncDispose]: async () => {
      workspace[Symbol.dispose]()
      await server.close()
    },
  }
}

/** The tools of the set, without those that are not on the list. */
function allowedTools({ tools, allow }: McpOptions): readonly Tool[] {
  const all = tools === 'forkd' ? forkdTools : forkpointTools
  if (allow === null) return all
  const names = all.map(({ name }) => name)
  const wrong = allow.find((name) => !names.includes(name))
  if (wrong !== undefined) {
    const [near] = closest(wrong, names)
    const remedy =
      near === undefined ? `the tools are ${names.join(', ')}` : `did you mean ${near}?`
    throw new InvalidInputError(`no such tool: ${quote(wrong)}`, { remedy })
  }
  return all.filter(({ name }) => allow.includes(name))
}

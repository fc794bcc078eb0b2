import { isUtf8 } from 'node:buffer'
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { shownEnvironment } from './tools/environments.ts'
import { mostFileBytes } from './tools/fields.ts'
import { shownTree } from './tools/tree.ts'
import type { Workspace } from './workspace.ts'

const json = 'application/json'
const mostListed = 500
const mostCompleted = 100

/** What a client can read without calling a tool, if the tool that shows the same is allowed. */
export function addResources(
  server: McpServer,
  workspace: Workspace,
  tools: ReadonlySet<string>,
): void {
  if (tools.has('tree')) addTree(server, workspace)
  if (tools.has('list_environments')) addEnvironments(server, workspace)
  if (tools.has('read_file')) addFiles(server, workspace)
}

function addTree(server: McpServer, workspace: Workspace): void {
  server.registerResource(
    'tree',
    'forkpoint://tree',
    { title: 'Tree', description: 'Snapshots and environments', mimeType: json },
    async (uri) => document(uri, await shownTree(workspace)),
  )
}

function addEnvironments(server: McpServer, workspace: Workspace): void {
  server.registerResource(
    'environments',
    'forkpoint://environments',
    { title: 'Environments', description: 'All environments of this session', mimeType: json },
    async (uri) => document(uri, (await workspace.environments()).map(shownEnvironment)),
  )
  const list = async () => ({
    resources: (await workspace.environments()).slice(0, mostListed).map(({ id, name }) => ({
      uri: `forkpoint://environments/${id}`,
      name: name ?? id,
      mimeType: json,
    })),
  })
  server.registerResource(
    'environment',
    new ResourceTemplate('forkpoint://environments/{environment}', {
      list,
      complete: { environment: (begun) => completed(workspace, begun) },
    }),
    { title: 'Environment', description: 'One environment', mimeType: json },
    async (uri, { environment }) =>
      document(uri, shownEnvironment(await workspace.environment(decoded(environment)))),
  )
}

function addFiles(server: McpServer, workspace: Workspace): void {
  server.registerResource(
    'file',
    new ResourceTemplate('forkpoint://environments/{environment}/files{+path}', {
      list: undefined,
      complete: { environment: (begun) => completed(workspace, begun) },
    }),
    { title: 'File', description: 'A file of an environment, up to 1 MiB' },
    async (uri, { environment, path }) => {
      const { files } = await workspace.environment(decoded(environment))
      const bytes = await files.read(decoded(path), { maxBytes: mostFileBytes })
      const content = isUtf8(bytes)
        ? { text: bytes.toString('utf8'), mimeType: 'text/plain' }
        : { blob: bytes.toString('base64'), mimeType: 'application/octet-stream' }
      return { contents: [{ uri: uri.href, ...content }] }
    },
  )
}

function document(uri: URL, value: unknown) {
  return { contents: [{ uri: uri.href, mimeType: json, text: JSON.stringify(value) }] }
}

function decoded(variable: string | string[] | undefined): string {
  return decodeURIComponent(String(variable ?? ''))
}

async function completed(workspace: Workspace, begun: string): Promise<string[]> {
  const all = await workspace.environments()
  const names = all.map(({ id, name }) => name ?? id)
  return names.filter((name) => name.startsWith(begun)).slice(0, mostCompleted)
}

import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Progress } from '@modelcontextprotocol/sdk/types.js'

const root = join(import.meta.dirname, '../..')

/** A client of the official SDK, with what the tests ask it. */
export class TestClient implements AsyncDisposable {
  readonly client: Client
  /** the tools that have answered, over all clients of this file */
  static readonly worked = new Set<string>()

  private constructor(client: Client) {
    this.client = client
  }

  /** Starts `forkpoint mcp`, as a coding agent does. */
  static async stdio(words: readonly string[]): Promise<TestClient> {
    const flags = ['--disable-warning=ExperimentalWarning']
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...flags, join(root, 'src/cli/main.ts'), 'mcp', ...words],
      env: withoutUndefinedVariables(process.env),
      stderr: 'inherit',
    })
    return await TestClient.#connected(transport)
  }

  static async http(url: string, token: string): Promise<TestClient> {
    const headers = { authorization: `Bearer ${token}` }
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    return await TestClient.#connected(transport as Parameters<Client['connect']>[0])
  }

  static async #connected(transport: Parameters<Client['connect']>[0]): Promise<TestClient> {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    return new TestClient(client)
  }

  /** The structured result of a tool; throws what the tool says if it fails. */
  async call<T = Record<string, unknown>>(
    name: string,
    input: Record<string, unknown> = {},
    onprogress?: (progress: Progress) => void,
  ): Promise<T> {
    const request = { name, arguments: input }
    const options = { timeout: 100_000, ...(onprogress && { onprogress }) }
    const answer = await this.client.callTool(request, undefined, options)
    const [first] = answer.content as { type: string; text: string }[]
    if (answer.isError) throw new Error(first?.text)
    // Clients that only show text see the same.
    if (JSON.stringify(answer.structuredContent) !== first?.text) throw new Error('texts differ')
    TestClient.worked.add(name)
    return answer.structuredContent as T
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
  }
}

function withoutUndefinedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(env).filter(
    (each): each is [string, string] => each[1] !== undefined,
  )
  return Object.fromEntries(given)
}

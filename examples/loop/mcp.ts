// The loop of loop.ts over the Model Context Protocol, as a coding agent would call the tools of `forkpoint mcp`.
import { readFile } from 'node:fs/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const task = new URL('task/', import.meta.url)
const variables = Object.entries(process.env).flatMap(([name, value]) =>
  value === undefined ? [] : [[name, value] as const],
)
const client = new Client({ name: 'loop', version: '1' })
await client.connect(
  new StdioClientTransport({
    command: 'forkpoint',
    args: ['mcp'],
    env: Object.fromEntries(variables),
  }),
)

/** Calls a tool, which must succeed. */
async function call(name: string, input: object): Promise<Record<string, unknown>> {
  const { isError, content, structuredContent } = await client.callTool({
    name,
    arguments: { ...input },
  })
  if (isError) throw new Error(JSON.stringify(content))
  return structuredContent as Record<string, unknown>
}

const { environment } = await call('create_environment', {})
/** Runs a command in the shell of the environment. */
const exec = async (command: string): Promise<string> => {
  const { stdout } = await call('exec', { environment, command })
  return String(stdout)
}

try {
  await exec('mkdir /task && cd /task')
  for (const name of ['prepare_data.py', 'try_fix_a.py', 'try_fix_b.py']) {
    const content = await readFile(new URL(name, task), 'utf8')
    await call('write_file', { environment, path: `/task/${name}`, content })
  }
  await exec('python3 prepare_data.py')
  await exec('export MODE=debug')

  const { snapshot } = await call('snapshot', { environment })
  const a = await exec('python3 try_fix_a.py')
  await call('restore', { environment, snapshot })
  const b = await exec('python3 try_fix_b.py')

  console.log('A:', a.trim())
  console.log('B:', b.trim())
  console.log(Number.parseInt(a, 10) < Number.parseInt(b, 10) ? 'A is better' : 'B is better')
} finally {
  await call('remove', { environment })
  await client.close()
}

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { type ExampleHome, makeExampleHome, whyNoCells } from '../e2e/docs/example-home.ts'
import { expectRow, installedVersion } from '../support/client-rows.ts'
import { unless } from '../support/evidence.ts'
import { root } from '../unit/docs/markdown.ts'

const run = promisify(execFile)
const folder = join(root, 'examples/frameworks')
const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))

/** The framework that each example is for. */
const packages: Readonly<Record<string, string>> = {
  'ai-sdk.ts': 'ai',
  'claude-agent-sdk.ts': '@anthropic-ai/claude-agent-sdk',
  'deepagents.ts': 'deepagents',
  'openai-agents.ts': '@openai/agents',
}

/** The example as it would import an installed package, where the frameworks are found. */
function prepared(name: string): string {
  const directory = join(root, 'dist/examples')
  mkdirSync(directory, { recursive: true })
  const source = readFileSync(join(folder, name), 'utf8')
    .replaceAll(/'forkpoint'/g, `'${pathToFileURL(join(root, 'src/index.ts')).href}'`)
    .replaceAll(
      /'forkpoint\/integrations\/([\w-]+)'/g,
      (_all, module: string) =>
        `'${pathToFileURL(join(root, `src/integrations/${module}.ts`)).href}'`,
    )
  const file = join(directory, `${process.pid}-${name.replace('.ts', '.mts')}`)
  writeFileSync(file, source)
  return file
}

/** What the example says that it prints: `// → text`. */
function promised(name: string): string[] {
  const source = readFileSync(join(folder, name), 'utf8')
  return Array.from(source.matchAll(/\/\/ → (.*)$/gm), ([, text = '']) => text)
}

describe('an agent of another framework branches', unless(whyNoCells), () => {
  const home: ExampleHome = makeExampleHome('frameworks')
  afterAll(() => home.remove())

  test.each(names)(
    '%s does what it says, and leaves nothing',
    async (name) => {
      const file = prepared(name)
      try {
        const flags = ['--disable-warning=ExperimentalWarning', '--no-warnings']
        const { stdout } = await run(process.execPath, [...flags, file], {
          env: home.env,
          timeout: 280_000,
        })
        expect(promised(name).length).toBeGreaterThan(0)
        expect(stdout.trimEnd().split('\n')).toEqual(promised(name))
        expect(await home.clear()).toEqual([])
        const client = packages[name] ?? ''
        expectRow({
          client,
          version: installedVersion(client),
          works: [`examples/frameworks/${name}`],
        })
      } finally {
        rmSync(file, { force: true })
        // What one leaves is not the fault of the next.
        await home.clear()
      }
    },
    300_000,
  )
})

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { unless } from '../../support/evidence.ts'
import { blocksOf, readPages, root } from '../../unit/docs/markdown.ts'
import { type ExampleHome, makeExampleHome, whyNoCells } from './example-home.ts'

const run = promisify(execFile)
const api = pathToFileURL(join(root, 'src/index.ts')).href

const blocks = readPages()
  .flatMap((page) => blocksOf(page, 'ts'))
  .map(({ page, line, text }) => [`${page}, line ${line}`, text] as const)
const examples = readdirSync(join(root, 'examples'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [`examples/${name}`, readFileSync(join(root, 'examples', name), 'utf8')] as const)

/** What the example says that it prints, one line each: `// → text`. */
function promised(source: string): string[] {
  return Array.from(source.matchAll(/\/\/ → (.*)$/gm), ([, text = '']) => text)
}

function linesOf(output: string): string[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => line.trimEnd())
}

describe('an example in the documentation does what it says', unless(whyNoCells), () => {
  let home: ExampleHome
  let directory: string

  beforeAll(() => {
    home = makeExampleHome('examples')
    directory = join(home.path, 'run')
    mkdirSync(directory)
  })
  afterAll(() => home?.remove())

  let left: string[] = []
  afterEach(async () => {
    left = await home.clear()
  })

  test.each([...blocks, ...examples])('%s', async (name, source) => {
    const file = join(directory, `${name.replaceAll(/\W+/g, '-')}.mts`)
    writeFileSync(file, source.replaceAll(`'forkpoint'`, `'${api}'`))
    const args = ['--disable-warning=ExperimentalWarning', file]
    const options = { env: home.env, cwd: directory, timeout: 50_000 }
    const { stdout } = await run(process.execPath, args, options)
    expect(linesOf(stdout)).toEqual(promised(source))
  })

  test('and leaves no environment behind', () => {
    expect(left).toEqual([])
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, readPage, root } from '../unit/docs/markdown.ts'
import { type PythonHome, python, said, sdk, servePython } from './support.ts'

const blocks = blocksOf(readPage('docs/python.md'), 'python')
const example = readFileSync(join(root, 'examples/try_a_then_b.py'), 'utf8')
const original = readFileSync(join(root, 'examples/try-a-then-b.ts'), 'utf8')

/** What a program says that it prints: `# → text`, one line each. */
function promised(source: string): string[] {
  return Array.from(source.matchAll(/(?:#|\/\/) → (.*)$/gm), ([, text = '']) => text)
}

describe('the package of Python', () => {
  let home: PythonHome
  let installed: string

  beforeAll(async () => {
    home = await servePython('wheel')
    const wheels = join(home.dir, 'wheels')
    const source = join(home.dir, 'source')
    await said('cp', ['-r', sdk, source])
    const offline = ['--no-index', '--no-deps', '--disable-pip-version-check', '-q']
    const build = ['-m', 'pip', 'wheel', '--no-build-isolation', ...offline, '-w', wheels, source]
    await said(python, build, { env: home.env })
    const venv = join(home.dir, 'venv')
    await said(python, ['-m', 'venv', venv])
    installed = join(venv, 'bin/python')
    await said(installed, ['-m', 'pip', 'install', ...offline, '--find-links', wheels, 'forkpoint'])
  })
  afterAll(() => home[Symbol.asyncDispose]())

  test('is installed from its wheel, with its types and without the tests', async () => {
    const program = `
import forkpoint, importlib.metadata, pathlib
where = pathlib.Path(forkpoint.__file__).parent
files = [str(f) for f in importlib.metadata.files('forkpoint')]
print(where.parent.name, (where / 'py.typed').exists(), any('tests' in f for f in files))
print(importlib.metadata.version('forkpoint') == forkpoint.__version__)`
    expect(await said(installed, ['-c', program], { cwd: '/' })).toBe(
      'site-packages True False\nTrue\n',
    )
  })

  test('has the version of everything else', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(readFileSync(join(sdk, 'pyproject.toml'), 'utf8')).toContain(`version = "${version}"`)
  })

  test.each(blocks.map(({ line, text }) => [line, text] as const))(
    'does what docs/python.md promises in line %i',
    async (_line, text) => {
      const output = await said(installed, ['-c', text], { cwd: home.dir, env: home.env })
      expect(output.trimEnd().split('\n')).toEqual(promised(text))
    },
  )

  test('gives the answer of the TypeScript example', async () => {
    const output = await said(installed, ['-c', example], { cwd: home.dir, env: home.env })
    expect(output.trimEnd().split('\n')).toEqual(promised(original))
    expect(promised(example)).toEqual(promised(original))
  })

  test('leaves nothing behind', async () => {
    expect(await home.fp.list()).toEqual([])
  })
})

test('the synchronous client is made from the asynchronous one, and the types are right', async () => {
  await said(python, [join(sdk, 'tools/make_sync.py'), '--check'])
  const cache = ['--cache-dir', '/dev/null', '--no-incremental']
  expect(await said('/usr/bin/mypy', cache, { cwd: sdk })).toContain('no issues found')
})

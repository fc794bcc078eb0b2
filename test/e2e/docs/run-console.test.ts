import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unless } from '../../support/evidence.ts'
import { blocksOf, readPage, root } from '../../unit/docs/markdown.ts'
import { normalised, runSession, stepsOf } from './console-session.ts'
import { type ExampleHome, makeExampleHome, whyNoCells } from './example-home.ts'

/** `forkpoint` on the PATH, without the launcher's bootstrap. */
function installLauncher(directory: string): void {
  const file = join(directory, 'forkpoint')
  const node = `${process.execPath} --disable-warning=ExperimentalWarning`
  mkdirSync(directory)
  writeFileSync(file, `#!/bin/sh\nexec ${node} ${join(root, 'dist/cli.cjs')} "$@"\n`)
  chmodSync(file, 0o755)
}

describe.each(['README.md', 'docs/getting-started.md'])(
  'a command line shown in %s prints what is shown',
  unless(whyNoCells),
  (path) => {
    const steps = stepsOf(blocksOf(readPage(path), 'console'))
    let home: ExampleHome
    let outputs: string[]

    beforeAll(async () => {
      home = makeExampleHome('console')
      const bin = join(home.path, 'bin')
      const cwd = join(home.path, 'here')
      installLauncher(bin)
      mkdirSync(cwd)
      outputs = await runSession(steps, { ...home.env, PATH: `${bin}:${process.env.PATH}` }, cwd)
    })
    afterAll(() => home?.remove())

    test.each(steps.map(({ command, line }, index) => [line, command, index] as const))(
      'line %i: %s',
      (_line, _command, index) => {
        expect(normalised(outputs[index] ?? 'nothing was run')).toBe(
          normalised(steps[index]?.shown ?? ''),
        )
      },
    )

    test('and no environment is left behind', async () => {
      expect(await home.clear()).toEqual([])
    })
  },
)

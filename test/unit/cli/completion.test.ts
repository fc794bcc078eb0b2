import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verbs } from '../../../src/cli/arguments/verbs.ts'
import { runCaptured } from './run-captured.ts'

const userVerbs = [...verbs].filter(([, verb]) => !verb.hidden).map(([name]) => name)
let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'forkpoint-completion-'))
  // What the script asks for the names of environments.
  writeFileSync(
    join(dir, 'forkpoint'),
    '#!/bin/sh\ncase "$*" in __complete) echo web; echo try ;; *snapshot) echo ready ;; esac\n',
  )
  chmodSync(join(dir, 'forkpoint'), 0o755)
})

afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
})

/** What bash would offer after these words. */
async function complete(...words: string[]): Promise<string[]> {
  const { stdout } = await runCaptured('completion', 'bash')
  const script = `${stdout}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _forkpoint; printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, PATH: `${dir}:${process.env.PATH}` }
  const output = execFileSync('bash', ['-c', script, 'bash', 'forkpoint', ...words], {
    env,
    // Where no file has the name of an environment.
    cwd: dir,
  })
  return output.toString().trim().split('\n')
}

describe('completion in bash', () => {
  test('offers verbs first', async () => {
    expect(await complete('')).toEqual([...userVerbs, 'help'])
    expect(await complete('re')).toEqual(['repl', 'restore', 'resume', 'rename'])
  })

  test('offers the options of the verb, and the values of an option', async () => {
    expect(await complete('exec', 'web', '--ti')).toEqual(['--timeout'])
    expect(await complete('create', '--net', '')).toEqual(['none', 'nat'])
    expect(await complete('--color', '')).toEqual(['auto', 'always', 'never'])
    expect(await complete('completion', 'z')).toEqual(['zsh'])
  })

  test('offers the names of environments and snapshots', async () => {
    expect(await complete('exec', '')).toEqual(['web', 'try'])
    expect(await complete('rm', 'web', 't')).toEqual(['try'])
    expect(await complete('cp', 'we')).toEqual(['web:'])
    expect(await complete('rm-snapshot', '')).toEqual(['ready'])
    expect(await complete('restore', '')).toEqual(['web', 'try'])
    expect(await complete('restore', 'web', '')).toEqual(['ready'])
    expect(await complete('restore', '--force', 'web', 'r')).toEqual(['ready'])
    expect(await complete('net', 'web', 'n')).toEqual(['none', 'nat'])
  })
})

test.each(['zsh', 'fish'])('completion for %s knows every verb', async (shell) => {
  const { exitCode, stdout } = await runCaptured('completion', shell)
  expect(exitCode).toBe(0)
  for (const verb of userVerbs) expect(stdout).toMatch(new RegExp(`\\b${verb}\\b`))
  expect(stdout).toContain('forkpoint __complete')
})

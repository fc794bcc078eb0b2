// The table of verbs of the `cell` program: its answers to a missing or wrong verb.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nativeProgram } from '../../../src/linux/native-program.ts'

const native = join(import.meta.dirname, '../../../native')

function cell(...args: string[]) {
  const { status, stderr } = spawnSync(nativeProgram('cell'), args, { encoding: 'utf8' })
  return { status, lines: stderr.trim().split('\n') }
}

/** Every verb has a function of this name somewhere in the program. */
const verbs = globSync('cell/**/*.h', { cwd: native })
  .flatMap((header) => [
    ...readFileSync(join(native, header), 'utf8').matchAll(/void verb_(\w+)\(/g),
  ])
  .map(([, name = '']) => name.replaceAll('_', '-'))

describe('the cell program', () => {
  test.each([[[]], [['no-such-verb']]])('lists every verb when it is given %j', (args) => {
    const { status, lines } = cell(...args)
    expect(status).toBe(2)
    const listed = lines.flatMap((line) => /^ {2}cell (\S+)/.exec(line)?.[1] ?? [])
    expect(listed.sort()).toEqual(verbs.sort())
    expect(lines.at(-1)).toContain(args[0] ?? 'needs a verb')
  })

  test.each([
    ['too few', ['relink']],
    ['too many', ['relink', '1', '2']],
  ])('shows the arguments of a verb that was given %s', (_, args) => {
    const { status, lines } = cell(...args)
    expect(status).toBe(2)
    expect(lines[1]).toBe('  cell relink PID')
    expect(lines.at(-1)).toContain('relink')
  })

  test.each([
    ['an unknown option', ['create', '--nothing'], '--nothing'],
    ['an option without its value', ['create', '--env'], '--env'],
    ['an invalid number', ['create', '--id-base', '-1'], '--id-base'],
    ['an invalid pid', ['mask', '0'], 'process id'],
  ])('refuses %s', (_, args, named) => {
    const { status, lines } = cell(...args)
    expect([status, lines.length]).toEqual([2, 1])
    expect(lines[0]).toContain(named)
  })
})

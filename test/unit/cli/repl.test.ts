import { describe, expect, test } from 'vitest'
import { completionsOf } from '../../../src/cli/repl/complete.ts'
import { parseLine } from '../../../src/cli/repl/parse-line.ts'
import { InvalidInputError } from '../../../src/index.ts'

describe('a line of a session', () => {
  test('is a command with its words, or runs inside', () => {
    expect(parseLine('  restore  s1 ', 'on')).toEqual({
      kind: 'command',
      command: 'restore',
      words: ['s1'],
    })
    expect(parseLine('cmd  echo "a  b" ', 'on')).toEqual({ kind: 'exec', text: 'echo "a  b"' })
    expect(parseLine('# a comment', 'on')).toEqual({ kind: 'nothing' })
  })

  test('runs inside without `cmd` once that is off, unless it is a command', () => {
    expect(parseLine('ls -l', 'off')).toEqual({ kind: 'exec', text: 'ls -l' })
    expect(parseLine('tree', 'off')).toMatchObject({ kind: 'command', command: 'tree' })
  })

  test.each([
    ['snapshto', /did you mean snapshot\?/],
    ['ls', /`cmd …` runs one inside/],
    ['cmd', /`cmd` and a command line/],
  ])('%j is refused with a remedy', (line, remedy) => {
    let refusal: unknown
    try {
      parseLine(line, 'on')
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(InvalidInputError)
    expect(refusal).toHaveProperty('remedy', expect.stringMatching(remedy))
  })
})

test('completion offers commands, snapshots and branches', () => {
  const known = { snapshots: ['s1', 'ready'], branches: ['main', 'try'] }
  expect(completionsOf('s', known)).toEqual([['set', 'snapshot', 'stats', 'step', 'storage'], 's'])
  expect(completionsOf('restore r', known)).toEqual([['ready'], 'r'])
  expect(completionsOf('fork try ', known)).toEqual([['ready', 's1'], ''])
  expect(completionsOf('checkout ', known)).toEqual([['main', 'try'], ''])
  expect(completionsOf('set cmd o', known)).toEqual([['off', 'on'], 'o'])
  expect(completionsOf('tree ', known)).toEqual([[], ''])
})

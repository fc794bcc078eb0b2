import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { keptLogs } from '../../../src/criu/kept-logs.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

test('the last twenty logs are kept, newest first, and an empty one is not', () => {
  using dir = new TemporaryDirectory()
  const logs = keptLogs(dir.file('logs'))
  expect(logs.list()).toEqual([])
  expect(logs.keep('dump', '')).toBeUndefined()
  const paths = Array.from({ length: 25 }, (_, index) => logs.keep('restore', `log ${index}`))
  expect(readFileSync(paths.at(-1) ?? '', 'utf8')).toBe('log 24')
  expect(readdirSync(dir.file('logs'))).toHaveLength(20)
  const [newest] = logs.list()
  expect(newest).toMatchObject({ doing: 'restore', text: 'log 24', path: paths.at(-1) })
  expect(logs.list().map(({ text }) => text)).not.toContain('log 0')
})

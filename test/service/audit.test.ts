import {
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/model/log.ts'
import { openAudit } from '../../src/server/observe/audit.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'

const entry = {
  requestId: 'r1',
  principal: 'local',
  operation: 'environment.create',
  object: null,
  result: 200,
  durationMs: 3,
}
const mostBytes = 64 * 1024 ** 2
const kept = 5

test('the audit log is appended to, only for its owner', async () => {
  using directory = new TemporaryDirectory()
  const path = directory.file('audit.log')
  writeFileSync(path, 'before\n', { mode: 0o600 })
  await using audit = openAudit(path, silentLog)
  audit.record(entry)
  const [first, second] = readFileSync(path, 'utf8').split('\n')
  expect(first).toBe('before')
  expect(JSON.parse(second ?? '')).toMatchObject({ ...entry, time: expect.any(String) })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file that has grown large becomes the newest of five old ones', async () => {
  using directory = new TemporaryDirectory()
  const path = directory.file('audit.log')
  for (let turn = 1; turn <= kept + 2; turn += 1) {
    writeFileSync(path, `turn ${turn}\n`)
    truncateSync(path, mostBytes + 1)
    await using audit = openAudit(path, silentLog)
    audit.record(entry)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject(entry)
    expect(readFileSync(`${path}.1`).subarray(0, 7).toString()).toBe(`turn ${turn}\n`)
  }
  expect(readFileSync(`${path}.${kept}`).subarray(0, 7).toString()).toBe('turn 3\n')
  expect(existsSync(`${path}.${kept + 1}`)).toBe(false)
})

test('a link in its place is not followed', () => {
  using directory = new TemporaryDirectory()
  const path = directory.file('audit.log')
  const target = directory.file('target')
  symlinkSync(target, path)
  expect(() => openAudit(path, silentLog)).toThrow('ELOOP')
  expect(existsSync(target)).toBe(false)
})

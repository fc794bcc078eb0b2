import { expect, test } from 'vitest'
import { logEntry } from '../../../src/engine/history/log.ts'
import { newEnvironmentId } from '../../../src/model/ids.ts'
import { temporaryStore } from '../store/temporary-store.ts'
import { snapshotId } from './histories.ts'

test('a log entry has steps, times, bytes and snapshots', () => {
  const { journal } = temporaryStore()
  const phases = [{ name: 'dump', ms: 9.5 }]
  const begun = journal.begin('snapshot', newEnvironmentId(), { snapshot: snapshotId(1) })
  expect(logEntry(begun)).toMatchObject({
    state: 'open',
    pid: process.pid,
    durationMs: null,
    phases: [],
    bytes: null,
  })
  const done = journal.finish(begun, { totalMs: 12.5, phases, bytes: 1024 })
  expect(logEntry(done)).toMatchObject({
    kind: 'snapshot',
    state: 'done',
    durationMs: 12.5,
    bytes: 1024,
    phases,
    snapshot: snapshotId(1),
    from: null,
    error: null,
  })
})

test('an operation without measurements shows the time between its beginning and its end', () => {
  const { journal } = temporaryStore()
  const failed = journal.fail(journal.begin('pause', newEnvironmentId()), new Error('no'))
  const entry = logEntry(failed)
  expect(entry.durationMs).toBe((failed.endedAt ?? 0) - failed.startedAt)
  expect(entry.error?.message).toBe('no')
})

import { expect, test } from 'vitest'
import { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import { pstreeEntry } from '../../../../src/criu/images/format/criu-messages.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { outsideSession } from '../../../../src/criu/images/sessions.ts'

const head = Buffer.from('1943565420284957', 'hex')

/** Images of processes: number, parent, session. Process 1 leads a session of its own. */
function images(...processes: [pid: number, ppid: number, sid: number][]): DumpImages {
  const entries = [[1, 0, 1] as const, ...processes].map(([pid, ppid, sid]) =>
    make(pstreeEntry, { pid, ppid, sid, pgid: sid }),
  )
  return new DumpImages('/nowhere', ['pstree.img']).with({ 'pstree.img': { head, entries } })
}

test('sessions with a leader, and what was left of one to the first process, can be restored', () => {
  const usual = images([2, 1, 2], [3, 2, 2], [4, 3, 2])
  const orphans = images([3, 1, 2], [4, 3, 2], [5, 1, 2])
  const child = images([2, 1, 2], [3, 2, 3], [4, 3, 2])
  expect([usual, orphans, child].map(outsideSession)).toEqual([null, null, null])
})

test('a process in a session without a leader whose parent has left it cannot', () => {
  expect(outsideSession(images([3, 1, 3], [4, 3, 2]))).toEqual({ pid: 4, session: 2 })
})

test('nor can a family that would have begun in two sessions', () => {
  const family = images([2, 1, 2], [3, 2, 3], [4, 3, 2], [5, 3, 5], [6, 5, 2], [7, 5, 3], [8, 5, 1])
  expect(outsideSession(family)).toEqual({ pid: 7, session: 3 })
})

import { expect, test } from 'vitest'
import { parseAttribute } from '../../../../src/criu/images/attributes.ts'
import { unreadable } from '../../../../src/criu/losses/unreadable.ts'

function lost(...lines: string[]) {
  return unreadable(lines.map(parseAttribute), new Map())
}

test('what was read is not lost', () => {
  expect(
    lost('unread 8 5 6162', 'queue 1 1 61 named 4 32 600 0 0 1:62', 'pipe 8 4 65536 p'),
  ).toEqual([])
})

test('what could not be read is lost, with its process', () => {
  const [backlog, half, unread] = lost(
    'backlog-lost 8 4 -',
    'half-lost 9 3 1 - -',
    'unread-lost 9 4 -',
  )
  expect(backlog).toMatchObject({ process: { pid: 8 }, what: 'are closed' })
  expect(half).toMatchObject({ process: { pid: 9 }, object: expect.stringContaining('socket 3') })
  expect(unread?.object).toContain('netlink socket 4')
})

test('a queue belongs to nobody', () => {
  const [messages, notification] = lost('queue 1 1 6d71 lost 4 32 600 0 0', 'notify-lost 1 1 6d71')
  expect(messages).toMatchObject({ process: null, object: 'the messages in the POSIX queue /mq' })
  expect(notification).toMatchObject({ process: null, object: expect.stringContaining('/mq') })
})

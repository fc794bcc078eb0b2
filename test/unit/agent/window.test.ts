import { describe, expect, test } from 'vitest'
import { Inbox } from '../../../src/agent/wire/inbox.ts'
import { SendWindow } from '../../../src/agent/wire/window.ts'
import { INITIAL_WINDOW_BYTES } from '../../../src/agent/wire/wire.ts'

describe('flow control', () => {
  test('a sender waits when its window is used up, and continues with new credit', async () => {
    const window = new SendWindow()
    expect(await window.take(1, 1_000_000)).toBe(INITIAL_WINDOW_BYTES)
    let taken = 0
    const waiting = window.take(10, 100).then((count) => {
      taken = count
    })
    window.grant(9)
    await Promise.resolve()
    expect(taken).toBe(0)
    window.grant(50)
    await waiting
    expect(taken).toBe(59)
  })

  test('a waiting sender fails when the stream does', async () => {
    const window = new SendWindow()
    await window.take(1, INITIAL_WINDOW_BYTES)
    const waiting = window.take(1, 1)
    window.fail(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
  })

  test('endless credit is a protocol error', () => {
    expect(() => new SendWindow().grant(0xffff_ffff)).toThrow(/credit/)
  })

  test('credit is returned only for what the reader has taken', async () => {
    let credit = 0
    const inbox = new Inbox('bytes', (bytes) => {
      credit += bytes
    })
    for (let i = 0; i < 4; i += 1) inbox.push(Buffer.alloc(65_536))
    expect(credit).toBe(0)
    await inbox.read()
    expect(credit).toBe(65_536)
    expect(inbox.takenBytes).toBe(65_536)
    expect(inbox.receivedBytes).toBe(INITIAL_WINDOW_BYTES)
  })

  test('data beyond the window is a protocol error', () => {
    const inbox = new Inbox('bytes', () => {})
    inbox.push(Buffer.alloc(INITIAL_WINDOW_BYTES))
    expect(() => inbox.push(Buffer.alloc(1))).toThrow(/window/)
  })

  test('what arrived before the connection broke can still be read', async () => {
    const inbox = new Inbox('bytes', () => {})
    inbox.push(Buffer.from('last words'))
    inbox.fail(new Error('lost'))
    expect(String(await inbox.read())).toBe('last words')
    await expect(inbox.read()).rejects.toThrow('lost')
  })

  test('one-byte frames are joined instead of piling up', async () => {
    const inbox = new Inbox('bytes', () => {})
    for (let i = 0; i < 5000; i += 1) inbox.push(Buffer.of(i % 256))
    const first = await inbox.read()
    expect(first?.length).toBe(4096)
  })

  test('empty frames leave nothing behind', async () => {
    const inbox = new Inbox('bytes', () => {})
    for (let i = 0; i < 1000; i += 1) inbox.push(Buffer.alloc(0))
    inbox.end()
    expect(await inbox.read()).toBeNull()
  })
})

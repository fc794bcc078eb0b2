import { duplexPair } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { ExecStream } from '../../../src/backends/containers/engine/exec-stream.ts'

function piece(channel: number, text: string): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt8(channel, 0)
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

function connected() {
  const [engine, socket] = duplexPair()
  return { engine, stream: new ExecStream(socket) }
}

describe('the stream of an exec', () => {
  test.each([1, 3, 7, 8, 9, 1000])('output arrives whole in pieces of %d bytes', async (size) => {
    const { engine, stream } = connected()
    const bytes = Buffer.concat([
      piece(1, 'one '),
      piece(1, ''),
      piece(2, 'noise'),
      piece(1, 'two'),
    ])
    for (let at = 0; at < bytes.length; at += size) engine.write(bytes.subarray(at, at + size))
    engine.end()
    expect((await buffer(stream)).toString()).toBe('one two')
  })

  test('what is on stderr is the reason if there is no output', async () => {
    const { engine, stream } = connected()
    engine.end(piece(2, 'agent: connect to /run/x: refused\n'))
    await expect(buffer(stream)).rejects.toThrow('agent: connect to /run/x: refused')
  })

  test('input is passed on as it is, and so is its end', async () => {
    const { engine, stream } = connected()
    stream.end('input')
    expect((await buffer(engine)).toString()).toBe('input')
    stream.destroy()
  })

  test('nothing is read ahead of a slow reader', async () => {
    const { engine, stream } = connected()
    const big = 'x'.repeat(60_000)
    let accepted = 0
    while (engine.write(piece(1, big)) && accepted < 100) accepted += 1
    expect(accepted).toBeLessThan(10)
    stream.destroy()
  })
})

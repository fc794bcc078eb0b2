import { createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { openTerminal } from '../../../src/agent/terminals/terminals.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import { FakeAgent } from './fake-agent.ts'

const copies = '\x1b]52;c;eA==\x07'
const asks = '\x1b[6n'

/** What a viewer sees of a terminal with `replay`, then `live` output, cut as given. */
async function shown(replay: string, live: readonly string[]): Promise<string> {
  await using agent = await FakeAgent.start((side) => {
    side.hello()
    side.onOpen((stream) => {
      const bytes = Buffer.from(replay)
      side.event(stream, { replayBytes: bytes.length, cols: 80, rows: 24, pid: 1 })
      if (bytes.length > 0) side.data(stream, 1, bytes)
      for (const text of live) side.data(stream, 1, Buffer.from(text))
      side.result(stream, { exitCode: 0 })
    })
  })
  await using connection = await openConnection(createConnection(agent.path))
  const terminal = await openTerminal(connection, 'main')
  const chunks: Buffer[] = []
  for await (const chunk of terminal.data()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('a terminal that is attached to again shows what was drawn, and repeats no effects', async () => {
  expect(await shown(`one${copies}${asks}\x1b[1mtwo`, [])).toBe('one\x1b[1mtwo')
})

test('live output is passed on as it is, even if it arrives with the replay', async () => {
  expect(await shown(`old${copies}`, [`new${copies}${asks}`, 'x'])).toBe(`oldnew${copies}${asks}x`)
  expect(await shown('', [copies])).toBe(copies)
})

test('a sequence that began in the replay is filtered to its end', async () => {
  expect(await shown('old\x1b]52;c;', [`eA==\x07new${asks}`])).toBe(`oldnew${asks}`)
  expect(await shown('old\x1b[3', ['1mred'])).toBe('old\x1b[31mred')
})

test('a character that began in the replay is whole', async () => {
  await using agent = await FakeAgent.start((side) => {
    side.hello()
    side.onOpen((stream) => {
      side.event(stream, { replayBytes: 1, cols: 80, rows: 24, pid: 1 })
      side.data(stream, 1, Buffer.from([0xc3]))
      side.data(stream, 1, Buffer.from([0xbc, 0x21]))
      side.result(stream, { exitCode: 0 })
    })
  })
  await using connection = await openConnection(createConnection(agent.path))
  const chunks: Buffer[] = []
  for await (const chunk of (await openTerminal(connection, 'main')).data()) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString()).toBe('ü!')
})

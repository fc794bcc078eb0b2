import { createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { renderScreen } from '../../../src/agent/terminals/screen.ts'
import { openTerminal } from '../../../src/agent/terminals/terminals.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import { FakeAgent } from './fake-agent.ts'

const copies = '\x1b]52;c;eA==\x07'
const asks = '\x1b[6n'
const size = { cols: 80, rows: 24 }

/** What a viewer sees of a terminal with `replay`, then `live` output, cut as given. */
async function shown(replay: string | Buffer, live: readonly (string | Buffer)[]): Promise<string> {
  await using agent = await FakeAgent.start((side) => {
    side.hello()
    side.onOpen((stream) => {
      const bytes = Buffer.from(replay)
      side.event(stream, { replayBytes: bytes.length, ...size, pid: 1 })
      if (bytes.length > 0) side.data(stream, 1, bytes)
      for (const piece of live) side.data(stream, 1, Buffer.from(piece))
      side.result(stream, { exitCode: 0 })
    })
  })
  await using connection = await openConnection(createConnection(agent.path))
  const terminal = await openTerminal(connection, 'main')
  const chunks: Buffer[] = []
  for await (const chunk of terminal.data()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function firstLine(output: string): Promise<string | undefined> {
  return (await renderScreen(Buffer.from(output), size)).lines[0]
}

test('a terminal that is attached to again shows what was drawn, and repeats no effects', async () => {
  const output = await shown(`one${copies}${asks}\x1b[1mtwo`, [])
  expect(await firstLine(output)).toBe('onetwo')
  expect(output).not.toContain(copies)
  expect(output).not.toContain(asks)
})

test('live output is passed on as it is, even if it arrives with the replay', async () => {
  const output = await shown(`old${copies}`, [`new${copies}${asks}`, 'x'])
  expect(output.endsWith(`new${copies}${asks}x`)).toBe(true)
  expect(output.split(copies)).toHaveLength(2)
  expect(await firstLine(output)).toBe('oldnewx')
  expect(await shown('', [copies])).toBe(copies)
})

test('a sequence that began in the replay is live', async () => {
  expect((await shown('old\x1b[', [`6nnew`])).endsWith(`${asks}new`)).toBe(true)
  expect((await shown('old\x1b[3', ['1mred'])).endsWith('\x1b[31mred')).toBe(true)
})

test('a character that began in the replay is whole', async () => {
  expect(await firstLine(await shown(Buffer.from([0xc3]), [Buffer.from([0xbc, 0x21])]))).toBe('ü!')
})

test('an accent after the replay joins the last character of it', async () => {
  expect(await firstLine(await shown('cafe', ['\u0301!']))).toBe('cafe\u0301!')
})

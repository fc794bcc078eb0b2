import headless from '@xterm/headless'
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  property,
  uint8Array,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ReplayFilter } from '../../../src/agent/terminals/replay-filter.ts'

function filtered(text: string | Buffer): string {
  return new ReplayFilter().push(Buffer.from(text)).toString()
}

const effects: [string, string][] = [
  ['a write to the clipboard', '\x1b]52;c;aGVsbG8=\x07'],
  ['the same, ended by ST', '\x1b]52;c;aGVsbG8=\x1b\\'],
  ['the same with 8-bit controls', '\u009d52;c;aGVsbG8=\u009c'],
  ['a query of the clipboard', '\x1b]52;c;?\x07'],
  ['what device it is', '\x1b[c\x1b[>c\x1b[=c\x1bZ\x1b[>q'],
  ['where the cursor is', '\x1b[6n\x1b[?6n\x1b[5n\u009b6n'],
  ['which modes are set', '\x1b[?2026$p\x1b[4$p'],
  ['which settings it has', '\x1bP$qm\x1b\\'],
  ['what it can do', '\x1bP+q544e\x1b\\'],
  ['which colors it has', '\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]4;1;rgb:0/0/0;2;?\x07'],
  ['how large it is, and a resize', '\x1b[14t\x1b[18t\x1b[8;50;100t\x1b[21t'],
  ['a report of every resize', '\x1b[?2048h'],
  ['which keys it sends', '\x1b[?u\x1b[?4m'],
  ['parameters and checksums', '\x1b[x\x1b[1;1;1;1;1;1*y'],
  ['an answerback and a bell', '\x05\x07'],
  ['a title', '\x1b]0;title\x07\x1b]2;title\x1b\\'],
  [
    'notifications, files and programs',
    '\x1b]9;hi\x07\x1b]777;notify;a;b\x07\x1b]1337;File=:eA==\x07',
  ],
  ['a printer', '\x1b[5i\x1b[?5i'],
  ['pictures by file name', '\x1b_Gt=f;L2V0Yy9wYXNzd2Q=\x1b\\'],
  ['a locked keyboard', '\x1b[2h\x1b[?3h'],
  ['a message for another multiplexer', '\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\'],
  ['a sequence that never ends', `\x1b]4;${'1'.repeat(10_000)}\x07`],
]

describe('a replay does not repeat', () => {
  test.each(effects)('%s', (_, sequence) => {
    expect(filtered(`before${sequence}after`)).toBe('beforeafter')
  })
})

test.each([
  'plain text, ünïcödé, 日本語, 🎉\r\n\ttab\b',
  '\x1b[1;31mred\x1b[0m\x1b[38:2::1:2:3mtrue color\x1b[2J\x1b[H\x1b[10;20H\x1b[K',
  '\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[?2004h\x1b[?7l\x1b[4h',
  '\x1b7\x1b8\x1bM\x1b(0lqk\x1b(B\x1b=\x1b>\x1bc\x1b#8\x0e\x0f',
  '\x1b[5;10r\x1b[3 q\x1b[!p\x1b[2L\x1b[3M\x1b[4P\x1b[5@\x1b[6X\x1b[7b',
  '\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\\x1b]4;1;rgb:ff/00/00\x1b\\\x1b]104\x1b\\',
  '\x1b[>4;2m\x1b[>1u\x1b[<u',
])('a replay draws what was drawn: %j', (text) => {
  expect(filtered(text)).toBe(text)
})

const pieces = [
  ...effects.map(([, sequence]) => sequence),
  'text',
  'ü',
  '\x1b',
  '\x1b[',
  '\x1b]',
  '\x1bP',
  '\\',
  '\x18',
  ';',
  '?',
  '6',
  'n',
  'c',
  '\u009b',
  '\x1b[31m',
  '\x1b[?1049h',
  '\r\n',
  '\u0090',
  '\u009c',
  '$',
  'q',
  '\x07',
  '\x1b[2;2H',
]

test('whatever is replayed, a terminal neither answers nor writes to the clipboard', async () => {
  const runs = asyncProperty(array(constantFrom(...pieces), { maxLength: 60 }), async (parts) => {
    const terminal = new headless.Terminal({ allowProposedApi: true })
    const said: string[] = []
    terminal.onData((data) => said.push(data))
    terminal.onBell(() => said.push('bell'))
    terminal.onTitleChange((title) => said.push(title))
    terminal.parser.registerOscHandler(52, (data) => said.push(data) > 0)
    const { promise, resolve } = Promise.withResolvers<void>()
    terminal.write(new ReplayFilter().push(Buffer.from(parts.join(''))), resolve)
    await promise
    terminal.dispose()
    expect(said).toEqual([])
  })
  await assert(runs, { numRuns: 500 })
})

test('how a replay is cut into chunks makes no difference', () => {
  const bytes = uint8Array({ maxLength: 200 })
  const texts = array(constantFrom(...pieces), { maxLength: 20 })
  assert(
    property(texts, bytes, integer({ min: 1, max: 7 }), (parts, noise, step) => {
      const whole = Buffer.concat([Buffer.from(parts.join('')), noise])
      const filter = new ReplayFilter()
      const shown: Buffer[] = []
      for (let at = 0; at < whole.length; at += step) {
        shown.push(filter.push(whole.subarray(at, at + step)))
      }
      expect(Buffer.concat(shown).toString()).toBe(filtered(whole))
    }),
  )
})

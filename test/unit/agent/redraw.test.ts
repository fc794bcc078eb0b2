import headless from '@xterm/headless'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attributesOf } from '../../../src/agent/terminals/redraw/attributes.ts'
import type { Viewer } from '../../../src/agent/terminals/redraw/redraw.ts'
import { completeBytes } from '../../../src/agent/terminals/redraw/sequences.ts'
import { redrawn } from '../../../src/agent/terminals/replay.ts'
import { drawn, renderScreen } from '../../../src/agent/terminals/screen.ts'

const size = { cols: 20, rows: 5 }
const historyLines = 1000

async function redraw(old: string, viewer: Viewer): Promise<string> {
  using screen = await drawn(Buffer.from(old), size, historyLines)
  return (await screen.redraw(viewer)).toString()
}

/** Modes, margins, tab stops, title, saved cursor, position and colours, after the cells. */
function stateIn(drawing: string): string {
  return drawing.slice(drawing.lastIndexOf('\x1b7', drawing.length))
}

/** Every cell, with its attributes. */
async function cells(shown: string): Promise<string[]> {
  const terminal = new headless.Terminal({
    ...size,
    scrollback: historyLines,
    allowProposedApi: true,
  })
  await new Promise<void>((resolve) => terminal.write(shown, resolve))
  const { active } = terminal.buffer
  return Array.from({ length: size.rows * size.cols }, (_, at) => {
    const line = active.getLine(active.baseY + Math.floor(at / size.cols))
    const cell = line?.getCell(at % size.cols)
    return cell === undefined ? '' : `${attributesOf(cell)}${cell.getChars() || ' '}`
  })
}

/** Pieces that programs print; together they reach most states of a terminal. */
const piece = fc.oneof(
  fc.constantFrom(
    'a',
    'word ',
    'ü',
    '漢字',
    'e\u0301',
    '🙂',
    '\r\n',
    '\n',
    '\t',
    '\b',
    ' '.repeat(25),
  ),
  fc.constantFrom(
    '\x1b[1;31m',
    '\x1b[0m',
    '\x1b[48;5;200m',
    '\x1b[38;2;1;2;3m',
    '\x1b[4;7m',
    '\x1b[93;104m',
  ),
  fc.constantFrom(
    '\x1b[H',
    '\x1b[3;7H',
    '\x1b[5;20H',
    '\x1b[2J',
    '\x1b[K',
    '\x1b[1K',
    '\x1b[2L',
    '\x1b[M',
    '\x1b[3@',
    '\x1b[2P',
  ),
  fc.constantFrom(
    '\x1b[2;4r',
    '\x1b[r',
    '\x1b[?6h',
    '\x1b[?6l',
    '\x1bD',
    '\x1bM',
    '\x1b7',
    '\x1b8',
    '\x1b[3S',
  ),
  fc.constantFrom(
    '\x1b[?1049h',
    '\x1b[?1049l',
    '\x1b[?25l',
    '\x1b[?1h',
    '\x1b=',
    '\x1b[?2004h',
    '\x1b[?1002h',
    '\x1b[?1006h',
    '\x1b[?7l',
    '\x1b[4h',
  ),
  fc.constantFrom(
    '\x1b(0',
    '\x1b(B',
    '\x1b[3g',
    '\x1bH',
    '\x1b]2;title\x07',
    '\x1b[3 q',
    '\x1b[>4;2m',
    '\x1b[!p',
  ),
  fc.constantFrom('0123456789012345678x', 'x'.repeat(60)),
)
const output = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))

describe('a redraw', () => {
  test('leads to the same state on an empty terminal', async () => {
    await fc.assert(
      fc.asyncProperty(output, async (old) => {
        const drawing = await redraw(old, 'newcomer')
        expect(await cells(drawing)).toEqual(await cells(old))
        expect(stateIn(await redraw(drawing, 'newcomer'))).toBe(stateIn(drawing))
        const seen = await renderScreen(Buffer.from(drawing), size)
        expect(seen).toEqual(await renderScreen(Buffer.from(old), size))
      }),
      { numRuns: 150 },
    )
  })

  test('leads to the same state on a terminal that shows something else', async () => {
    await fc.assert(
      fc.asyncProperty(output, output, async (shown, old) => {
        // Without a title of its own, the state leaves the viewer's title alone.
        const before = shown.replaceAll('\x1b]2;title\x07', '')
        const drawing = await redraw(old, 'returning')
        const both = `${before}\x1b\\${drawing}`
        expect(await cells(both)).toEqual(await cells(old))
        expect(stateIn(await redraw(both, 'returning'))).toBe(stateIn(drawing))
        const seen = await renderScreen(Buffer.from(both), size)
        expect(seen).toEqual(await renderScreen(Buffer.from(old), size))
      }),
      { numRuns: 150 },
    )
  })

  test('gives a newcomer the lines above the screen, wrapped where they were', async () => {
    const old = `${Array.from({ length: 30 }, (_, at) => `line ${at} ${'x'.repeat(at)}`).join('\r\n')}\r\n`
    const drawing = await redraw(old, 'newcomer')
    expect(await redraw(drawing, 'newcomer')).toBe(drawing)
    expect(drawing).toContain(`line 29 ${'x'.repeat(29)}`)
    expect(await redraw(old, 'returning')).not.toContain('line 20')
  })

  test('makes no terminal answer', async () => {
    const asking =
      '\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b]11;?\x07\x1bP+q436f\x1b\\\x1b[?u\x1b[18t\x05\x07\x1b]52;c;?\x07'
    for (const viewer of ['newcomer', 'returning'] as const) {
      const drawing = await redraw(`${asking}text\x1b]2;\u009b6nname\x07`, viewer)
      const terminal = new headless.Terminal({ ...size, allowProposedApi: true })
      let typed = ''
      terminal.onData((data) => {
        typed += data
      })
      await new Promise<void>((resolve) => terminal.write(drawing, resolve))
      expect(typed).toBe('')
      expect(drawing).not.toMatch(/\[\?[\d;]*n|\[[>=]?\d*c|\]52|\[\d*t|\$q|\+q|\?u|\?\\/)
      for (const control of ['\x05', '\x07', '\x9b']) expect(drawing).not.toContain(control)
    }
  })
})

describe('the end of old output', () => {
  test('a sequence or character that is not complete is left to live output', () => {
    const complete = (text: string | Buffer) => completeBytes(Buffer.from(text))
    expect(complete('one\x1b[1m')).toBe(7)
    expect(complete('one\r\n')).toBe(5)
    expect(complete('one')).toBe(2)
    expect(complete('one\u0301\u0302')).toBe(2)
    for (const begun of [
      '\x1b',
      '\x1b[',
      '\x1b[3',
      '\x1b[?25',
      '\x1b]52;c;eA',
      '\x1b]2;x\x1b',
      '\x1bP$q',
      '\x1b(',
      '\u009b3',
    ]) {
      expect(complete(`old\n${begun}`), JSON.stringify(begun)).toBe(4)
    }
    expect(complete(Buffer.from([0x0a, 0xf0, 0x9f, 0x99]))).toBe(1)
    expect(complete(Buffer.from([0x0a, 0xe6]))).toBe(1)
    expect(complete(Buffer.from([0x0a, 0xff, 0x80, 0xc3, 0x41]))).toBe(4)
  })

  test('however output is cut, the screen after the rest is the same', async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.nat(), async (text, where) => {
        const bytes = Buffer.from(text)
        const cut = bytes.length === 0 ? 0 : where % bytes.length
        const replay = { bytes: bytes.subarray(0, cut), drawnFor: size, size }
        const { screen, begun } = await redrawn(replay, 'newcomer')
        const seen = Buffer.concat([screen, begun, bytes.subarray(cut)])
        expect(await renderScreen(seen, size)).toEqual(await renderScreen(bytes, size))
      }),
      { numRuns: 150 },
    )
  })
})

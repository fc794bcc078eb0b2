import { describe, expect, test } from 'vitest'
import { renderScreen, Screen } from '../../../src/agent/terminals/screen.ts'

const size = { cols: 20, rows: 4 }

describe('a screen', () => {
  test('shows text where the program put it', async () => {
    const screen = await renderScreen(Buffer.from('one\r\ntwo\x1b[4;3Hfour'), size)
    expect(screen.lines).toEqual(['one', 'two', '', '  four'])
    expect(screen.cursor).toEqual({ col: 6, row: 3 })
  })

  test('shows the last rows of output that scrolled', async () => {
    const screen = await renderScreen(Buffer.from('a\r\nb\r\nc\r\nd\r\ne\r\nf'), size)
    expect(screen.lines).toEqual(['c', 'd', 'e', 'f'])
  })

  test('shows a full-screen program, and the shell again after it', async () => {
    using screen = await Screen.open(size)
    await screen.write('$ vim\r\n\x1b[?1049h\x1b[Hediting')
    expect(screen.text()).toMatchObject({ isAlternate: true, lines: ['editing', '', '', ''] })
    await screen.write('\x1b[?1049l')
    expect(screen.text()).toMatchObject({ isAlternate: false, lines: ['$ vim', '', '', ''] })
  })

  test('follows a resize', async () => {
    using screen = await Screen.open(size)
    screen.resize({ cols: 10, rows: 2 })
    await screen.write('0123456789abc')
    expect(screen.text()).toMatchObject({ cols: 10, rows: 2, lines: ['0123456789', 'abc'] })
  })

  test('keeps characters that arrive in two pieces whole', async () => {
    using screen = await Screen.open(size)
    const bytes = Buffer.from('héllo€')
    for (const byte of bytes) await screen.write(Buffer.of(byte))
    expect(screen.text().lines[0]).toBe('héllo€')
  })

  test('of an absurd size is bounded', async () => {
    const screen = await renderScreen(Buffer.from('x'), { cols: 2 ** 31, rows: -5 })
    expect(screen.cols).toBe(1000)
    expect(screen.rows).toBe(1)
  })
})

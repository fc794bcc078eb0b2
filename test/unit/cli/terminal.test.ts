import { describe, expect, test } from 'vitest'
import { DetachKeys } from '../../../src/cli/shell/detach-keys.ts'
import { TerminalModes } from '../../../src/cli/shell/terminal-modes.ts'

const softReset = '\u001b[!p\u001b[0m'

describe('Ctrl-] d', () => {
  const type = (...pieces: string[]) => {
    const keys = new DetachKeys()
    const typed = pieces.map((piece) => keys.type(Buffer.from(piece, 'latin1')))
    return {
      pass: Buffer.concat(typed.map(({ pass }) => pass)).toString('latin1'),
      detach: typed.some(({ detach }) => detach),
    }
  }

  test('detaches, even if it arrives in two pieces', () => {
    expect(type('ls\u001dd')).toEqual({ pass: 'ls', detach: true })
    expect(type('ls', '\u001d', 'd')).toEqual({ pass: 'ls', detach: true })
  })

  test('leaves every other key as it was typed', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
      .toString('latin1')
      .replace('\u001d', '')
    expect(type(bytes)).toEqual({ pass: bytes, detach: false })
    expect(type('d\u001dx')).toEqual({ pass: 'd\u001dx', detach: false })
  })

  test('Ctrl-] twice types one', () => {
    expect(type('\u001d\u001dd')).toEqual({ pass: '\u001dd', detach: false })
  })
})

describe('the modes of a terminal', () => {
  const undoAfter = (...pieces: string[]) => {
    const modes = new TerminalModes()
    for (const piece of pieces) modes.follow(Buffer.from(piece))
    return modes.undo()
  }

  test('that a program has switched are switched back', () => {
    expect(undoAfter('\u001b[?1049h\u001b[?25lvim')).toBe(`\u001b[?25h\u001b[?1049l${softReset}`)
    expect(undoAfter('\u001b[?1000;1006h')).toBe(`\u001b[?1000l\u001b[?1006l${softReset}`)
  })

  test('that it has switched back itself are left alone', () => {
    expect(undoAfter('\u001b[?1049h', 'vim', '\u001b[?1049l')).toBe(softReset)
    expect(undoAfter('\u001b[?2004h', '\u001bc')).toBe(softReset)
  })

  test('are seen however the output is cut into pieces', () => {
    const output = 'a\u001b[?1049h\u001b[?25lb\u001b[?2004h\u001b[31m'
    const expected = undoAfter(output)
    for (let cut = 1; cut < output.length; cut++) {
      expect(undoAfter(output.slice(0, cut), output.slice(cut))).toBe(expected)
    }
    expect(undoAfter(...output)).toBe(expected)
  })
})

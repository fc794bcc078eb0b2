import { describe, expect, test } from 'vitest'
import { defaultOptions, optionsOfQuery, parseLimit } from '../../src/mcp/options.ts'
import { Clip, wholeCharacters } from '../../src/mcp/output/clip.ts'
import { bestOf, scoreOf } from '../../src/mcp/tools/try-commands.ts'

describe('the best of several attempts', () => {
  test('passed, and has the highest score; the first of equals', () => {
    const attempt = (passed: boolean, score: number | null) => ({ passed, score })
    expect(bestOf([attempt(false, 9), attempt(true, 1), attempt(true, 2), attempt(true, 2)])).toBe(
      2,
    )
    expect(bestOf([attempt(true, null), attempt(true, -5)])).toBe(1)
    expect(bestOf([attempt(true, null), attempt(true, null)])).toBe(0)
    expect(bestOf([attempt(false, 1)])).toBeNull()
  })

  test.each([
    ['1\n2.5\n', 2.5],
    ['-3', -3],
    ['1e3\n\n', 1000],
    ['12 passed', null],
    ['0x10', null],
    ['Infinity', null],
    ['', null],
  ])('%j has the score %j', (stdout, score) => {
    expect(scoreOf(stdout)).toBe(score)
  })
})

describe('long output', () => {
  test('keeps its beginning and its end, however it arrives', () => {
    const text = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join('')
    for (const size of [1, 7, 100, text.length]) {
      const clip = new Clip(100)
      for (let at = 0; at < text.length; at += size)
        clip.push(Buffer.from(text.slice(at, at + size)))
      expect(clip.bytes).toBe(text.length)
      expect(clip.leftOut).toBe(text.length - 100)
      const note = `[${text.length - 100} from 50]`
      expect(clip.text((bytes, offset) => `${bytes} from ${offset}`)).toBe(
        `${text.slice(0, 50)}\n${note}\n${text.slice(-50)}`,
      )
    }
  })

  test('is whole if it fits, and is never cut within a character', () => {
    const clip = new Clip(10)
    clip.push(Buffer.from('0123456789'))
    expect(clip.text(() => 'cut')).toBe('0123456789')
    const bytes = Buffer.from('aé€😀')
    const whole = [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]
    expect(whole.map((_, length) => wholeCharacters(bytes.subarray(0, length)).length)).toEqual(
      whole,
    )
    expect(wholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80])).length).toBe(5)
  })
})

describe('options in a URL', () => {
  test('are those of the command line, and others are refused', () => {
    expect(optionsOfQuery(new URLSearchParams(''))).toEqual(defaultOptions)
    expect(
      optionsOfQuery(
        new URLSearchParams('allow=exec,diff&allow=tree&label=a=b=c&limit=2&remove=any'),
      ),
    ).toEqual({
      tools: 'forkpoint',
      allow: ['exec', 'diff', 'tree'],
      labels: { a: 'b=c' },
      limit: 2,
      removes: 'any',
    })
    for (const wrong of [
      'alow=exec',
      'limit=0',
      'limit=1e3',
      'remove=all',
      'label=x',
      'tools=e2b',
    ]) {
      expect(() => optionsOfQuery(new URLSearchParams(wrong)), wrong).toThrow()
    }
    // An empty list allows nothing, and not everything.
    expect(optionsOfQuery(new URLSearchParams('allow=')).allow).toEqual([])
    expect(() => parseLimit('-1')).toThrow()
  })
})

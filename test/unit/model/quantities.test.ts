import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/model/errors.ts'
import {
  formatAge,
  formatBytes,
  formatDuration,
  parseAge,
  parseBytes,
  parseCount,
  parseCpus,
  parseDuration,
  parseIoRate,
  parseNetRate,
  parseWhole,
} from '../../../src/model/values/quantities.ts'

describe('sizes', () => {
  test.each([
    ['2g', 2 * 1024 ** 3],
    ['512m', 512 * 1024 ** 2],
    ['1.5GiB', 1.5 * 1024 ** 3],
    ['1.5 GiB', 1.5 * 1024 ** 3],
    ['10kb', 10 * 1024],
    ['.5k', 512],
    ['0', 0],
    ['100B', 100],
    ['4096', 4096],
    [4096, 4096],
  ])('%s is understood', (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes)
  })

  test.each(['', 'g', '-1', '1x', '1ib', '1 2', '1e9', '0x10', 'NaN', '9999999p', '1,5g'])(
    '%j is refused with a remedy',
    (text) => {
      expect(() => parseBytes(text)).toThrow(InvalidInputError)
      expect(() => parseBytes(text)).toThrow(/not a size/)
    },
  )

  test('what is shown can be typed back, to within what rounding hides', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (bytes) => {
        const again = parseBytes(formatBytes(bytes))
        expect(Math.abs(again - bytes)).toBeLessThanOrEqual(bytes * 0.05)
      }),
    )
  })

  test('a shown size never reaches the next unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 49 }), (bytes) => {
        expect(Number.parseFloat(formatBytes(bytes))).toBeLessThan(1024)
      }),
    )
    expect(formatBytes(1024 ** 2 - 1)).toBe('1 MiB')
    expect(formatBytes(-3 * 1024 ** 2)).toBe('-3 MiB')
    expect(formatBytes(1536 * 1024 ** 2)).toBe('1.5 GiB')
  })

  test('any text is either parsed or refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(Number.isSafeInteger(parseBytes(text))).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError)
        }
      }),
    )
  })
})

describe('durations', () => {
  test.each([
    ['30', 30_000],
    [30, 30_000],
    ['30s', 30_000],
    ['5m', 300_000],
    ['5min', 300_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('%s is understood', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each(['', 's', '-5', '5 minutes', '1m30s', 'Infinity'])('%j is refused', (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidInputError)
  })

  test('a timeout too long for a timer is refused, and does not fire immediately', () => {
    expect(() => parseDuration('25d')).toThrow(InvalidInputError)
    expect(parseDuration('24d')).toBeLessThan(2 ** 31)
  })

  test.each([
    [0.42, '0.4 ms'],
    [12, '12 ms'],
    [999.7, '1 s'],
    [1340, '1.3 s'],
    [59_990, '1 min'],
    [125_000, '2 min 5 s'],
    [3_600_000 - 1, '1 h'],
    [7_500_000, '2 h 5 min'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms reads as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  test.each([
    [0, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [7_200_000, '2h'],
    [200_000_000, '2d'],
    [-5000, '0s'],
  ])('an age of %d ms reads as %s', (ms, text) => {
    expect(formatAge(1_000_000_000, 1_000_000_000 + ms)).toBe(text)
  })
})

describe('cpus and counts', () => {
  test('fractions of a cpu are allowed, nothing and nonsense are not', () => {
    expect(parseCpus('0.5')).toBe(0.5)
    expect(parseCpus(2)).toBe(2)
    for (const bad of ['0', '0.001', '-1', 'two', '', '1e3']) {
      expect(() => parseCpus(bad)).toThrow(InvalidInputError)
    }
  })

  test('an age may be years, and a number of things zero', () => {
    expect(parseAge('90d')).toBe(90 * 86_400_000)
    expect(parseWhole('0')).toBe(0)
    for (const bad of ['', 'soon', '-1']) {
      expect(() => parseAge(bad)).toThrow(InvalidInputError)
      expect(() => parseWhole(bad)).toThrow(InvalidInputError)
    }
  })

  test('a count is whole and at least one', () => {
    expect(parseCount('512')).toBe(512)
    for (const bad of ['0', '1.5', '-1', '', 'many', '99999999999999999999']) {
      expect(() => parseCount(bad)).toThrow(InvalidInputError)
    }
  })
})

describe('rates', () => {
  test.each([
    ['10m', 10 * 1024 ** 2],
    ['1.5GiB/s', 1.5 * 1024 ** 3],
    ['65536', 65_536],
  ])('%s is %d bytes per second', (text, bytes) => {
    expect(parseIoRate(text)).toBe(bytes)
    expect(parseNetRate(text)).toBe(bytes)
  })

  test('have a least value, which is lower for the network', () => {
    expect(() => parseIoRate('63k')).toThrow('not a rate')
    expect(parseNetRate('4k/s')).toBe(4096)
    expect(() => parseNetRate('4000')).toThrow('not a rate')
    expect(() => parseNetRate('fast')).toThrow('not a rate')
  })
})

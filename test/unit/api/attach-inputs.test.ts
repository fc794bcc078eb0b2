import { describe, expect, test } from 'vitest'
import { contract } from '../../../src/api/contract/contract.ts'
import { nanosecondsOf } from '../../../src/backends/containers/engine/containers.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { formatSource, parseSource } from '../../../src/model/source.ts'

const { input } = contract['environment.attach']

describe('the target of an attach', () => {
  test.each(['web', 'a1b2c3', 'my_app-1.x', '123', 'host/name:tag@x'])('may be %j', (target) => {
    expect(input.parse({ target })).toEqual({ target })
  })

  test('may be a pid as a number', () => {
    expect(input.parse({ target: 123 })).toEqual({ target: '123' })
  })

  test.each([
    '',
    'a b',
    'a\0b',
    'a\nb',
    '\u001b[31m',
    'a;b',
    '../é',
    'x'.repeat(1025),
    0,
    -1,
    1.5,
    Number.NaN,
    null,
    undefined,
    [],
    {},
    { toString: () => 'web' },
  ])('is not %j', (target) => {
    expect(input.safeParse({ target }).success).toBe(false)
  })

  test('comes without a source, and with nothing unknown', () => {
    expect(input.safeParse({ target: 'web', from: 'host' }).success).toBe(false)
    expect(input.safeParse({ target: 'web', force: true }).success).toBe(false)
  })
})

describe('the source of what was attached', () => {
  test('is shown, and is none that `create` accepts', () => {
    expect(formatSource({ kind: 'attached', target: 'web' })).toBe('attached:web')
    expect(() => parseSource('attached:web')).toThrow(InvalidInputError)
    const create = contract['environment.create'].input
    expect(() => create.parse({ from: { kind: 'attached', target: 'web' } })).toThrow()
  })
})

test.each([
  ['1970-01-01T00:00:01Z', '1000000000'],
  ['1970-01-01T00:00:01.5Z', '1500000000'],
  ['2026-11-17T19:04:51.611985232Z', '1794942291611985232'],
  ['1970-01-01T01:00:00.000000001+01:00', '1'],
  ['1969-12-31T23:59:59.25Z', '-750000000'],
])('the time %s of a file has %s nanoseconds', (time, nanoseconds) => {
  expect(nanosecondsOf(time)).toBe(nanoseconds)
})

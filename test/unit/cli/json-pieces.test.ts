import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces } from '../../../src/cli/render/layout/json-pieces.ts'

test('JSON in pieces is the same text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 600 }), (value, count) => {
      const long = { value, list: Array.from({ length: count }, (_, at) => [at, value]), end: null }
      for (const each of [value, long, [long.list]]) {
        expect([...jsonPieces(each)].join('')).toBe(JSON.stringify(each, null, 2))
      }
    }),
  )
  const odd = {
    date: new Date(0),
    none: undefined,
    nested: { none: undefined },
    empty: {},
    list: [],
  }
  expect([...jsonPieces(odd)].join('')).toBe(JSON.stringify(odd, null, 2))
})

test('no piece of a long array is long', () => {
  const list = Array.from({ length: 10_000 }, (_, at) => ({ path: `/a/b/${at}` }))
  for (const piece of jsonPieces({ list })) expect(piece.length).toBeLessThan(20_000)
})

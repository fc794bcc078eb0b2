import { expect, test } from 'vitest'
import { attributesImage, withAttributes } from '../../../../src/criu/images/attributes.ts'
import { parseNoted } from '../../../../src/criu/images/noted.ts'
import { dumpOf } from '../../../support/dump-of.ts'

const wait = '7 7 232 -1 139637976731650 140728898424832 again'
const affinity = 'affinity 7 8 01'

test('tells waits from other attributes', () => {
  const { waits, attributes } = parseNoted(`${wait}\n${affinity}\n`)
  expect(waits).toHaveLength(1)
  expect(attributes).toEqual([{ word: 'affinity', process: 7, number: 8, value: '01' }])
})

test('writes no image if nothing differs from the default', () => {
  const images = dumpOf({})
  expect(withAttributes(images, parseNoted(`${wait}\n`).attributes)).toBe(images)
})

test('writes an image with what to put back', () => {
  const images = withAttributes(dumpOf({}), parseNoted(`${affinity}\n`).attributes)
  expect(images.bytes(attributesImage).toString()).toBe(`${affinity}\n`)
})

test.each(['affinity', 'affinity x 8 01', 'affinity 7 8 \u0001', 'Affinity 7 8 01'])(
  'refuses a malformed note: %j',
  (line) => {
    expect(() => parseNoted(`${line}\n`)).toThrow(/malformed/)
  },
)

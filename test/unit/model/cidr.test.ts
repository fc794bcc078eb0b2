import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { cidrPrefix, parseCidr } from '../../../src/model/values/cidr.ts'

test('networks and single addresses are understood', () => {
  expect(parseCidr('10.213.0.0/16')).toBe('10.213.0.0/16')
  expect(parseCidr('0.0.0.0/0')).toBe('0.0.0.0/0')
  expect(parseCidr('192.0.2.7')).toBe('192.0.2.7/32')
  expect(cidrPrefix('10.213.0.0/16')).toBe(16)
})

test.each(['', '10.0.0/8', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'fd00::/8', '1.2.3.4/-1'])(
  '%j is refused',
  (text) => {
    expect(() => parseCidr(text)).toThrow(InvalidInputError)
  },
)

test('a network with host bits is refused, with both possible meanings', () => {
  try {
    parseCidr('10.1.2.3/16')
    expect.unreachable()
  } catch (error) {
    expect((error as InvalidInputError).remedy).toMatch(/10\.1\.0\.0\/16.*10\.1\.2\.3\/32/)
  }
})

test('the network that a refusal suggests is accepted', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
      try {
        expect(parseCidr(`${address}/${prefix}`)).toBe(`${address}/${prefix}`)
      } catch (error) {
        const proposed =
          /write (\S+) for the network/.exec((error as InvalidInputError).remedy ?? '')?.[1] ?? ''
        expect(parseCidr(proposed)).toBe(proposed)
      }
    }),
  )
})

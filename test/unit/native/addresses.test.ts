import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  disjoint,
  isWithin,
  nextLink,
  rangesWithout,
} from '../../../src/backends/native/network/addresses.ts'
import { ResourceError } from '../../../src/model/errors.ts'

/** Takes links until the pool is empty. */
function takeAll(pool: string): { gateway: string; address: string }[] {
  const taken = new Set<string>()
  const links: { gateway: string; address: string }[] = []
  for (;;) {
    try {
      const link = nextLink(pool, taken)
      taken.add(link.gateway)
      links.push(link)
    } catch (error) {
      expect(error).toBeInstanceOf(ResourceError)
      return links
    }
  }
}

describe('addresses of environments', () => {
  test('both ends are in the same network of four addresses', () => {
    expect(nextLink('10.213.0.0/16', new Set())).toEqual({
      gateway: '10.213.0.1',
      address: '10.213.0.2',
      prefix: 30,
    })
  })

  test('a pool of 4096 addresses has room for more than 250 environments, all different', () => {
    const links = takeAll('10.9.240.0/20')
    expect(links.length).toBe(1024)
    const all = links.flatMap(({ gateway, address }) => [gateway, address])
    expect(new Set(all).size).toBe(all.length)
    expect(links.at(-1)).toMatchObject({ gateway: '10.9.255.253', address: '10.9.255.254' })
  })

  test('an address that was freed is used again', () => {
    const taken = new Set(['10.0.0.1', '10.0.0.9'])
    expect(nextLink('10.0.0.0/24', taken).gateway).toBe('10.0.0.5')
  })

  test('the search may begin anywhere, and wraps around', () => {
    expect(nextLink('10.0.0.0/28', new Set(), 6).gateway).toBe('10.0.0.9')
    expect(nextLink('10.0.0.0/28', new Set(['10.0.0.9', '10.0.0.13']), 6).gateway).toBe('10.0.0.1')
  })

  test('an address that another interface of the host has is left out', () => {
    expect(nextLink('192.168.0.0/29', new Set(['192.168.0.1'])).address).toBe('192.168.0.6')
  })

  test('a pool at the top of the address range does not overflow', () => {
    expect(takeAll('255.255.255.248/29').map(({ address }) => address)).toEqual([
      '255.255.255.250',
      '255.255.255.254',
    ])
  })
})

describe('networks that an environment may reach', () => {
  test('are each listed once, a larger one instead of those within it', () => {
    const given = ['192.0.2.77/32', '10.0.0.0/8', '192.0.2.0/24', '10.1.0.0/16', '10.0.0.0/8']
    expect(disjoint(given)).toEqual(['10.0.0.0/8', '192.0.2.0/24'])
  })

  test('are all listed if none lies within another', () => {
    expect(disjoint(['0.0.0.0/1', '128.0.0.0/1'])).toEqual(['0.0.0.0/1', '128.0.0.0/1'])
    expect(disjoint(['198.51.100.1/32', '198.51.100.2/32'])).toHaveLength(2)
  })
})

describe('networks without others', () => {
  const words = (networks: string[], others: string[]) =>
    rangesWithout(networks, others).map(({ first, last }) => `${first}-${last}`)

  test.each([
    [[], ['0.0.0.0/0'], []],
    [['0.0.0.0/0'], [], ['0.0.0.0-255.255.255.255']],
    [['0.0.0.0/0'], ['0.0.0.0/0'], []],
    [['192.0.2.0/24'], ['10.0.0.0/8'], ['192.0.2.0-192.0.2.255']],
    [['0.0.0.0/0'], ['0.0.0.0/32', '255.255.255.255/32'], ['0.0.0.1-255.255.255.254']],
    [['10.0.0.0/30'], ['10.0.0.1/32'], ['10.0.0.0-10.0.0.0', '10.0.0.2-10.0.0.3']],
    [['10.0.0.0/9', '10.128.0.0/9', '10.1.0.0/16'], [], ['10.0.0.0-10.255.255.255']],
  ])('%j without %j are %j', (networks, others, ranges) => {
    expect(words(networks, others)).toEqual(ranges)
  })

  test('have exactly the addresses that are in the first and not in the second', () => {
    const prefix = fc.integer({ min: 24, max: 32 })
    const network = fc.tuple(prefix, fc.integer({ min: 0, max: 255 })).map(([length, last]) => {
      const size = 2 ** (32 - length)
      return {
        first: last - (last % size),
        size,
        text: `192.0.2.${last - (last % size)}/${length}`,
      }
    })
    const networks = fc.array(network, { maxLength: 6 })
    fc.assert(
      fc.property(networks, networks, (wanted, unwanted) => {
        const ranges = rangesWithout(
          wanted.map(({ text }) => text),
          unwanted.map(({ text }) => text),
        )
        for (let last = 0; last < 256; last += 1) {
          const isIn = ({ first, size }: { first: number; size: number }) =>
            first <= last && last < first + size
          const expected = wanted.some(isIn) && !unwanted.some(isIn)
          expect(isWithin(ranges, `192.0.2.${last}`)).toBe(expected)
        }
      }),
      { numRuns: 60 },
    )
  })
})

import { ResourceError } from '../../../model/errors.ts'
import { cidrPrefix } from '../../../model/values/cidr.ts'

/** Both ends of one environment's link. */
export interface LinkAddresses {
  readonly gateway: string
  readonly address: string
  readonly prefix: number
}

// Each environment has its own network of four addresses: network, host side, inside, broadcast.
const linkPrefix = 30
const linkSize = 4

/** How many environments a pool has addresses for. */
export function linksOf(pool: string): number {
  return 2 ** (linkPrefix - Math.min(cidrPrefix(pool), linkPrefix))
}

/**
 * The first free link of the pool, starting at link number `from` and wrapping around. `taken` holds the
 * host's addresses that are already in use.
 */
export function nextLink(pool: string, taken: ReadonlySet<string>, from = 0): LinkAddresses {
  const [network = ''] = pool.split('/')
  const base = toNumber(network)
  const links = linksOf(pool)
  for (let tried = 0; tried < links; tried += 1) {
    const link = (from + tried) % links
    const gateway = toText(base + link * linkSize + 1)
    if (taken.has(gateway)) continue
    return { gateway, address: toText(base + link * linkSize + 2), prefix: linkPrefix }
  }
  throw new ResourceError(`all ${links} addresses of the pool ${pool} are in use`, {
    remedy: 'remove environments that use --net nat, or set net.pool to a larger network',
  })
}

/** The environment's end of a link. */
export function insideOf({ gateway }: { readonly gateway: string }): string {
  return toText(toNumber(gateway) + 1)
}

/** Without networks that lie within another one of the list, because nftables refuses those. */
export function disjoint(networks: readonly string[]): string[] {
  const kept: string[] = []
  for (const network of networks.toSorted((a, b) => cidrPrefix(a) - cidrPrefix(b))) {
    if (!kept.some((larger) => contains(larger, network))) kept.push(network)
  }
  return kept
}

/** Addresses from the first to the last, both included, as nftables has them. */
export interface AddressRange {
  readonly first: string
  readonly last: string
}

/** What is in one of these networks and in none of the others, in order, without overlaps. */
export function rangesWithout(
  networks: readonly string[],
  others: readonly string[],
): AddressRange[] {
  const bounds = [...networks.flatMap(boundsOf(1, 0)), ...others.flatMap(boundsOf(0, 1))]
  bounds.sort((a, b) => a.at - b.at)
  const ranges: AddressRange[] = []
  let wanted = 0
  let unwanted = 0
  let first: number | null = null
  for (const [index, { at, ...change }] of bounds.entries()) {
    wanted += change.wanted
    unwanted += change.unwanted
    if (bounds[index + 1]?.at === at) continue
    const isIn = wanted > 0 && unwanted === 0
    if (isIn && first === null) first = at
    if (isIn || first === null) continue
    ranges.push({ first: toText(first), last: toText(at - 1) })
    first = null
  }
  return ranges
}

/** Where a network begins, and where it ends. */
function boundsOf(wanted: number, unwanted: number) {
  return (network: string) => {
    const size = 2 ** (32 - cidrPrefix(network))
    const begin = firstBlock(network, size) * size
    return [
      { at: begin, wanted, unwanted },
      { at: begin + size, wanted: -wanted, unwanted: -unwanted },
    ]
  }
}

export function isWithin(ranges: readonly AddressRange[], address: string): boolean {
  const number = toNumber(address)
  return ranges.some(({ first, last }) => toNumber(first) <= number && number <= toNumber(last))
}

function contains(larger: string, network: string): boolean {
  const size = 2 ** (32 - cidrPrefix(larger))
  return firstBlock(larger, size) === firstBlock(network, size)
}

function firstBlock(network: string, size: number): number {
  return Math.floor(toNumber(network.split('/')[0] ?? '') / size)
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

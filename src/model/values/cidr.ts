import { InvalidInputError } from '../errors.ts'
import { quote } from '../text/quote.ts'

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
/** As Node's own test, which is not in browsers. */
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)

/** An IPv4 network as `a.b.c.d/n`, host bits zero; a bare address is a network of one address. */
export function parseCidr(value: string): string {
  const [address = '', prefixText = '32', ...rest] = value.split('/')
  const prefix = /^\d{1,2}$/.test(prefixText) ? Number(prefixText) : Number.NaN
  if (!ipv4.test(address) || !(prefix <= 32) || rest.length > 0) {
    throw new InvalidInputError(`not an IPv4 network: ${quote(value)}`, {
      remedy: 'give an address and a prefix length, such as 10.0.0.0/8',
    })
  }
  const network = maskedAddress(address, prefix)
  if (network !== address) {
    throw new InvalidInputError(`not an IPv4 network: ${quote(value)} has host bits set`, {
      remedy: `write ${network}/${prefix} for the network, or ${address}/32 for the address alone`,
    })
  }
  return `${address}/${prefix}`
}

export function cidrPrefix(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1))
}

function maskedAddress(address: string, prefix: number): string {
  return address
    .split('.')
    .map((octet, index) => {
      const kept = Math.min(8, Math.max(0, prefix - 8 * index))
      return Number(octet) & (0xff << (8 - kept)) & 0xff
    })
    .join('.')
}

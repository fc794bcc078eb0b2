import type { Tools } from '../../../linux/tools.ts'
import type { AddressRange } from './addresses.ts'
import { hasRules, type NatNames, nft } from './nat.ts'

/** What an environment with denied networks has of its own, however often it is denied others. */
export async function deny(
  tools: Tools,
  names: NatNames,
  iface: string,
  denied: readonly AddressRange[],
): Promise<void> {
  await nft(tools, 'denying addresses', deniedScript(names, iface, denied))
}

/** Undoes `deny`; does nothing if there is nothing to undo. */
export async function undeny(tools: Tools, names: NatNames, iface: string): Promise<void> {
  if (!(await hasRules(tools, names))) return
  const { table } = names
  const each = ways.map(
    ([map, prefix]) => `delete element ip ${table} ${map} { "${iface}" }
delete chain ip ${table} ${prefix}_${iface}
`,
  )
  // nft refuses to delete what is missing, but lets us add what exists.
  await nft(tools, 'no longer denying addresses', chains(names, iface) + each.join(''))
}

/**
 * Replaces in one transaction what is denied, so that nothing gets through meanwhile, and connections that stay
 * allowed notice nothing. Answers count as well as what is sent, because a connection may be older than the rule.
 * What others have opened to the environment is not its own, and errors come from routers that may be denied.
 * A packet that belongs to no connection has no direction: it is dropped.
 */
export function deniedScript(
  names: NatNames,
  iface: string,
  denied: readonly AddressRange[],
): string {
  const { table } = names
  const set = denied.map(({ first, last }) => (first === last ? first : `${first}-${last}`))
  const addresses = `{ ${set.join(', ')} }`
  return `${chains(names, iface)}flush chain ip ${table} out_${iface}
flush chain ip ${table} in_${iface}
add rule ip ${table} out_${iface} ct direction reply return
add rule ip ${table} out_${iface} ip daddr ${addresses} drop
add rule ip ${table} in_${iface} ct state established ct direction reply ip saddr ${addresses} drop
`
}

const ways = [
  ['outgoing', 'out'],
  ['incoming', 'in'],
] as const

function chains({ table }: NatNames, iface: string): string {
  const each = ways.map(
    ([map, prefix]) => `add chain ip ${table} ${prefix}_${iface}
add element ip ${table} ${map} { "${iface}" : jump ${prefix}_${iface} }
`,
  )
  return each.join('')
}

import type { Tools } from '../../../linux/tools.ts'
import { disjoint } from './addresses.ts'
import { hasRules, type NatNames, nft } from './nat.ts'

export async function allow(
  tools: Tools,
  names: NatNames,
  iface: string,
  networks: readonly string[],
): Promise<void> {
  if (networks.length === 0) return
  await nft(tools, 'allowing addresses', allowedScript(names, iface, networks))
}

export function allowedScript(names: NatNames, iface: string, networks: readonly string[]): string {
  return networks.length === 0 ? '' : `add ${allowed(names, iface, networks)}`
}

/** Undoes `allow`; does nothing if there is nothing to undo. */
export async function disallow(
  tools: Tools,
  names: NatNames,
  iface: string,
  networks: readonly string[],
): Promise<void> {
  if (networks.length === 0 || !(await hasRules(tools, names))) return
  const elements = allowed(names, iface, networks)
  // nft refuses to delete a missing element, but lets us add an existing one.
  await nft(tools, 'closing addresses', `add ${elements}delete ${elements}`)
}

function allowed({ table }: NatNames, iface: string, networks: readonly string[]): string {
  const elements = disjoint(networks).map((network) => `"${iface}" . ${network}`)
  return `element ip ${table} allowed { ${elements.join(', ')} }\n`
}

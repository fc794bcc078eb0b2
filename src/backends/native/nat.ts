import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import type { EnvironmentId } from '../../model/ids.ts'
import { disjoint, type LinkAddresses, nextLink } from './addresses.ts'
import { type CellNet, runCell } from './cell.ts'
import { mustRun, runTool } from './run-tool.ts'

const forwarding = '/proc/sys/net/ipv4/ip_forward'

/** Names that tell one home's interfaces and rules from another's. */
export interface NatNames {
  readonly table: string
  readonly prefix: string
}

export function natNames(key: string): NatNames {
  return { table: `forkpoint_${key}`, prefix: `fp${key.slice(0, 4)}` }
}

/** An interface name has at most 15 characters. */
export function interfaceName(names: NatNames, id: EnvironmentId): string {
  return names.prefix + id.slice(-9)
}

/** A link that no interface has. Each home looks elsewhere first: their leases are not shared. */
export function freeLink(names: NatNames, pool: string): LinkAddresses {
  const taken = new Set<string>()
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address } of addresses ?? []) taken.add(address)
  }
  return nextLink(pool, taken, Number.parseInt(names.table.slice(-8), 16))
}

/**
 * The rules of one home. They name interfaces by prefix, so an environment adds none, except what
 * it is allowed to reach among the host's and its neighbours' addresses, which are closed. Root
 * inside can write raw packets: those whose sender is not the other end of the link are dropped.
 */
export function natRules(names: NatNames, pool: string): string {
  const ours = `"${names.prefix}*"`
  return `
table ip ${names.table} {
  set allowed { type ifname . ipv4_addr; flags interval; }
  chain prerouting {
    type filter hook prerouting priority -10; policy accept;
    iifname ${ours} fib saddr . iif oif missing drop
  }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != ${ours} accept
    ct state established,related accept
    iifname . ip daddr @allowed accept
    drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    oifname ${ours} ct state established,related accept
    iifname . ip daddr @allowed accept
    oifname ${ours} drop
    iifname ${ours} oifname "fp*" drop
    iifname ${ours} ip daddr { 127.0.0.0/8, 169.254.0.0/16 } drop
  }
  chain postrouting {
    type nat hook postrouting priority 100; policy accept;
    ip saddr ${pool} oifname != "fp*" masquerade
  }
}
table ip6 ${names.table} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname ${ours} drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname ${ours} drop
  }
}
`
}

export async function ensureNat(names: NatNames, pool: string): Promise<void> {
  if ((await readFile(forwarding, 'utf8')).trim() !== '1') await writeFile(forwarding, '1')
  const known = await runTool('nft', ['list', 'table', 'ip', names.table])
  if (known.exitCode === 0) return
  await nft('setting up NAT', natRules(names, pool))
}

export async function allow(
  names: NatNames,
  iface: string,
  networks: readonly string[],
): Promise<void> {
  if (networks.length === 0) return
  const elements = disjoint(networks)
    .map((network) => `"${iface}" . ${network}`)
    .join(', ')
  await nft('allowing addresses', `add element ip ${names.table} allowed { ${elements} }\n`)
}

/**
 * The kernel removes it with the cell's network namespace, but only some time after the cell's last
 * process, up to seconds on a busy machine; until then its address is taken.
 */
export async function removeInterface(iface: string): Promise<void> {
  await runCell('removing a network interface', ['disconnect', iface])
}

/** Takes back what `allow` gave. */
export async function forget(names: NatNames, iface: string): Promise<void> {
  const listing = await runTool('nft', ['-j', 'list', 'set', 'ip', names.table, 'allowed'])
  if (listing.exitCode !== 0) return
  const elements = allowedOf(listing.stdout, iface)
  if (elements.length > 0) {
    await nft(
      'closing addresses',
      `delete element ip ${names.table} allowed { ${elements.join(', ')} }\n`,
    )
  }
}

interface SetListing {
  nftables: { set?: { elem?: { concat: [iface: string, network: unknown] }[] } }[]
}

/** The elements of the set that belong to one interface, in nft's own words. */
export function allowedOf(listing: string, iface: string): string[] {
  const { nftables } = JSON.parse(listing) as SetListing
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .filter(({ concat }) => concat[0] === iface)
    .map(({ concat }) => `"${iface}" . ${networkText(concat[1])}`)
}

function networkText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'prefix' in value) {
    const { addr, len } = value.prefix as { addr: string; len: number }
    return `${addr}/${len}`
  }
  return String(value)
}

/** Removes the rules; only when no environment of this home has a network. */
export async function removeNat(names: NatNames): Promise<void> {
  for (const family of ['ip', 'ip6']) await runTool('nft', ['delete', 'table', family, names.table])
}

async function nft(doing: string, script: string): Promise<void> {
  await mustRun(doing, 'nft', ['-f', '-'], { input: script })
}

/** Gives a cell its end of the link again, where a successor that failed had taken it. */
export async function connectAgain(net: CellNet, pid: number): Promise<void> {
  const devices = await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => null)
  // One that has ended meanwhile needs none.
  if (devices === null || /^\s*eth0:/m.test(devices)) return
  await runCell('connecting an environment again', [
    ...['connect', '--pid', String(pid), '--veth', net.interface, '--address', net.address],
    ...['--gateway', net.gateway, '--prefix', String(net.prefix)],
  ])
}

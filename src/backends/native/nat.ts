import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import type { EnvironmentId } from '../../model/ids.ts'
import { disjoint, type LinkAddresses, nextLink } from './addresses.ts'
import { type CellNet, runCell } from './cell.ts'
import type { GivenLink } from './given-links.ts'
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

/**
 * A link that neither another interface has nor `others`, the environments of this home. Each home
 * looks elsewhere first: their leases are not shared.
 */
export function freeLink(
  names: NatNames,
  pool: string,
  iface: string,
  others: readonly GivenLink[],
): LinkAddresses {
  const taken = new Set(others.map(({ gateway }) => gateway))
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    if (name !== iface) for (const { address } of addresses ?? []) taken.add(address)
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
  if (!(await hasRules(names))) await nft('setting up NAT', natRules(names, pool))
}

async function hasRules({ table }: NatNames): Promise<boolean> {
  return (await runTool('nft', ['list', 'table', 'ip', table])).exitCode === 0
}

export async function allow(
  names: NatNames,
  iface: string,
  networks: readonly string[],
): Promise<void> {
  if (networks.length === 0) return
  await nft('allowing addresses', `add ${allowed(names, iface, networks)}`)
}

/** Takes back what `allow` gave, if it did. */
export async function forget(
  names: NatNames,
  iface: string,
  networks: readonly string[],
): Promise<void> {
  if (networks.length === 0 || !(await hasRules(names))) return
  const elements = allowed(names, iface, networks)
  // nft refuses to delete what is not there; adding what is there is nothing to it.
  await nft('closing addresses', `add ${elements}delete ${elements}`)
}

function allowed({ table }: NatNames, iface: string, networks: readonly string[]): string {
  const elements = disjoint(networks).map((network) => `"${iface}" . ${network}`)
  return `element ip ${table} allowed { ${elements.join(', ')} }\n`
}

/**
 * The kernel removes it with the cell's network namespace, but only some time after the cell's last
 * process, up to seconds on a busy machine; until then its address is taken.
 */
export async function removeInterface(iface: string): Promise<void> {
  await runCell('removing a network interface', ['disconnect', iface])
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

import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import type { Tools } from '../../../linux/tools.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { CellNet } from '../cell/cell.ts'
import { insideOf, type LinkAddresses, linksOf, nextLink } from './addresses.ts'
import type { GivenLink } from './given-links.ts'

const forwarding = '/proc/sys/net/ipv4/ip_forward'

/**
 * How many entries of the host's connection table one environment may use. The whole machine shares the
 * table. An entry expires two minutes after the end of a TCP connection, or half a minute after the last
 * UDP datagram.
 */
const maxConnections = 4096
const tableSize = '/proc/sys/net/netfilter/nf_conntrack_max'
/** A machine with little memory has a small table; one environment gets at most an eighth of it. */
const partOfTable = 8

/** Names that distinguish the interfaces and rules of one home from those of others. */
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

interface LinkChoice {
  readonly others: readonly GivenLink[]
  readonly wanted?: LinkAddresses | null
}

/**
 * A link that no other interface uses, and none of `others`, the environments of this home. Homes share no
 * leases, so each one starts its search at a different link. `wanted` is chosen if it is free.
 */
export function freeLink(
  names: NatNames,
  pool: string,
  iface: string,
  { others, wanted = null }: LinkChoice,
): LinkAddresses {
  const taken = new Set(others.map(({ gateway }) => gateway))
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    if (name !== iface) for (const { address } of addresses ?? []) taken.add(address)
  }
  if (wanted !== null && !taken.has(wanted.gateway)) {
    const { gateway, address, prefix } = wanted
    return { gateway, address, prefix }
  }
  return nextLink(pool, taken, Number.parseInt(names.table.slice(-8), 16))
}

/** How many connections an environment may have; null if the kernel cannot count them. */
type Bound = number | null

/**
 * The rules of one home. They match interfaces by prefix, so a new environment adds no rules. It only adds
 * the addresses of the host and its neighbours that it may reach; all others of them are closed. An environment
 * that is denied networks has chains of its own, which the maps name (denied.ts). Root inside can write raw
 * packets, so packets with a forged sender are dropped.
 */
function natRules(names: NatNames, pool: string, bound: Bound): string {
  const ours = `"${names.prefix}*"`
  const counted = `add @connections { ip saddr ct count over ${bound} }`
  return `
table ip ${names.table} {
  set allowed { type ifname . ipv4_addr; flags interval; }
  set held { type ifname; flags timeout; }
  set moving { type ipv4_addr . inet_service . ipv4_addr . inet_service; flags timeout; }
  set connections { type ipv4_addr; size ${linksOf(pool)}; flags dynamic; }
  chain arriving {
    type filter hook prerouting priority raw; policy accept;
    iifname @held drop
    ip saddr . tcp sport . ip daddr . tcp dport @moving drop
  }
  chain prerouting {
    type filter hook prerouting priority -10; policy accept;
    iifname ${ours} fib saddr . iif oif missing drop
    ${bound === null ? '' : `iifname ${ours} ct state new ${counted} drop`}
  }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != ${ours} accept
    ct state established,related accept
    iifname . ip daddr @allowed accept
    drop
  }
  chain output {
    type filter hook output priority -10; policy accept;
    oifname @held drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    oifname @held drop
    iifname vmap @outgoing
    oifname vmap @incoming
    oifname ${ours} ct state established,related accept
    iifname . ip daddr @allowed accept
    oifname ${ours} drop
    iifname ${ours} oifname "fp*" drop
    iifname ${ours} ip daddr { 127.0.0.0/8, 169.254.0.0/16 } drop
  }
  map outgoing { type ifname : verdict; }
  map incoming { type ifname : verdict; }
  map uplinks { type ifname : limit; }
  map downlinks { type ifname : limit; }
  chain rates_up {
    type filter hook prerouting priority -9; policy accept;
    limit name iifname map @uplinks drop
  }
  chain rates_down {
    type filter hook postrouting priority -9; policy accept;
    limit name oifname map @downlinks drop
  }
  chain postrouting {
    type nat hook postrouting priority 100; policy accept;
    ip saddr ${pool} oifname != "fp*" masquerade
  }
}
${ip6Rules(names)}`
}

/** Environments have no IPv6. */
function ip6Rules(names: NatNames): string {
  const ours = `"${names.prefix}*"`
  return `table ip6 ${names.table} {
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

/** `ofLinks` gives the rules of the links that exist, for a host that has lost all rules. */
export async function ensureNat(
  tools: Tools,
  names: NatNames,
  pool: string,
  ofLinks: () => string,
): Promise<void> {
  if ((await readFile(forwarding, 'utf8')).trim() !== '1') await writeFile(forwarding, '1')
  const found = await rulesOf(tools, names)
  // The rules of an earlier version have no such map.
  if (found?.includes('map outgoing')) return
  const before = found === null ? '' : emptied(names, found)
  const after = found === null ? ofLinks() : ''
  const script = (bound: Bound) => before + natRules(names, pool, bound) + after
  const bounded = await runNft(tools, script(await boundHere()))
  // A kernel without CONFIG_NFT_CONNLIMIT: `doctor` reports it.
  if (bounded.exitCode !== 0) await nft(tools, 'setting up NAT', script(null))
}

/** Empties an existing table in the same transaction, but keeps its sets and maps. `found` is the table as text. */
function emptied({ table }: NatNames, found: string): string {
  // Those of single environments have no type.
  const names = [...found.matchAll(/^\s*chain (\w+) \{\n\s*type /gm)].map(([, name]) => name)
  const chains = names.map((chain) => `ip ${table} ${chain}`)
  for (const chain of ['input', 'forward']) chains.push(`ip6 ${table} ${chain}`)
  return chains.map((chain) => `flush chain ${chain}\n`).join('')
}

async function boundHere(): Promise<number> {
  // A kernel without this file has no limit for the table.
  const size = Number(await readFile(tableSize, 'utf8').catch(() => Number.POSITIVE_INFINITY))
  return Math.min(maxConnections, Math.floor(size / partOfTable))
}

/** Whether the kernel counts connections: tries the rules in a separate network namespace. */
export async function countsConnections(tools: Tools): Promise<boolean> {
  const names = { table: 'forkpoint_probe', prefix: 'fpprobe' }
  const words = ['--net', 'nft', '-f', '-']
  const input = natRules(names, '192.0.2.0/24', maxConnections)
  return (await tools.run('unshare', words, { input })).exitCode === 0
}

async function rulesOf(tools: Tools, { table }: NatNames): Promise<string | null> {
  const { exitCode, stdout } = await tools.run('nft', ['list', 'table', 'ip', table])
  return exitCode === 0 ? stdout : null
}

export async function hasRules(tools: Tools, names: NatNames): Promise<boolean> {
  return (await rulesOf(tools, names)) !== null
}

/**
 * The kernel would remove the interface with the cell's network namespace, but on a busy machine only
 * seconds after the cell's last process has ended. Until then the address is taken.
 */
export async function removeInterface(tools: Tools, iface: string): Promise<void> {
  await tools.runCell('removing a network interface', ['disconnect', iface])
}

/** Removes the interface for good: the host also forgets all connections over these links. */
export async function disconnect(
  tools: Tools,
  iface: string,
  links: readonly GivenLink[],
): Promise<void> {
  const addresses = links.map(insideOf)
  await tools.runCell('removing a network link', ['disconnect', iface, ...new Set(addresses)])
}

/** Removes the rules. No environment of this home may have a network. */
export async function removeNat(tools: Tools, names: NatNames): Promise<void> {
  for (const family of ['ip', 'ip6'])
    await tools.run('nft', ['delete', 'table', family, names.table])
}

function runNft(tools: Tools, script: string): ReturnType<Tools['run']> {
  return tools.run('nft', ['-f', '-'], { input: script })
}

export async function nft(tools: Tools, doing: string, script: string): Promise<void> {
  await tools.mustRun(doing, 'nft', ['-f', '-'], { input: script })
}

/** Gives a cell back its end of the link, if a failed successor has taken it. */
export async function reconnect(tools: Tools, net: CellNet, pid: number): Promise<void> {
  const devices = await readFile(`/proc/${pid}/net/dev`, 'utf8').catch(() => null)
  // A process that has ended in the meantime needs no link.
  if (devices === null || /^\s*eth0:/m.test(devices)) return
  const args = ['connect', '--pid', String(pid), '--veth', net.interface]
  args.push('--address', net.address, '--gateway', net.gateway, '--prefix', String(net.prefix))
  await tools.runCell('reconnecting an environment', args)
}

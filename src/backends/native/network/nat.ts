import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { runCell } from '../../../linux/run-cell.ts'
import { mustRun, runTool } from '../../../linux/run-tool.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { CellNet } from '../cell/cell.ts'
import { disjoint, insideOf, type LinkAddresses, linksOf, nextLink } from './addresses.ts'
import type { GivenLink } from './given-links.ts'

const forwarding = '/proc/sys/net/ipv4/ip_forward'

/**
 * Connections of one environment that the host keeps in its table, which is one for the whole machine.
 * Each counts until it has expired: two minutes after its end with TCP, half a minute after the last
 * datagram with UDP.
 */
const mostConnections = 4096
const tableSize = '/proc/sys/net/netfilter/nf_conntrack_max'
/** A machine with little memory has a small table; one environment gets no more than this part. */
const partOfTable = 8

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

/** How many connections an environment may have, as rules say it; null where the kernel cannot count. */
type Bound = number | null

/**
 * The rules of one home. They name interfaces by prefix, so an environment adds none, except what
 * it is allowed to reach among the host's and its neighbours' addresses, which are closed. Root
 * inside can write raw packets: those whose sender is not the other end of the link are dropped.
 */
function natRules(names: NatNames, pool: string, bound: Bound): string {
  const ours = `"${names.prefix}*"`
  const counted = `add @connections { ip saddr ct count over ${bound} }`
  return `
table ip ${names.table} {
  set allowed { type ifname . ipv4_addr; flags interval; }
  set connections { type ipv4_addr; size ${linksOf(pool)}; flags dynamic; }
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
  const found = await rulesOf(names)
  // Those of an earlier version know no such set.
  if (found?.includes('set connections')) return
  const script = (bound: Bound) =>
    (found === null ? '' : emptied(names)) + natRules(names, pool, bound)
  const bounded = await runNft(script(await boundHere()))
  // A kernel without CONFIG_NFT_CONNLIMIT: `doctor` tells of it.
  if (bounded.exitCode !== 0) await nft('setting up NAT', script(null))
}

/** The rules of a table that is there; what it allows stays, and all happens at one moment. */
function emptied({ table }: NatNames): string {
  const chains = ['prerouting', 'input', 'forward', 'postrouting'].map(
    (chain) => `ip ${table} ${chain}`,
  )
  for (const chain of ['input', 'forward']) chains.push(`ip6 ${table} ${chain}`)
  return chains.map((chain) => `flush chain ${chain}\n`).join('')
}

async function boundHere(): Promise<number> {
  const size = Number(await readFile(tableSize, 'utf8').catch(() => Number.POSITIVE_INFINITY))
  return Math.min(mostConnections, Math.floor(size / partOfTable))
}

/** Whether the kernel counts connections: rules are tried in a network that nobody else sees. */
export async function countsConnections(): Promise<boolean> {
  const names = { table: 'forkpoint_probe', prefix: 'fpprobe' }
  const words = ['--net', 'nft', '-f', '-']
  const input = natRules(names, '192.0.2.0/24', mostConnections)
  return (await runTool('unshare', words, { input })).exitCode === 0
}

async function rulesOf({ table }: NatNames): Promise<string | null> {
  const { exitCode, stdout } = await runTool('nft', ['list', 'table', 'ip', table])
  return exitCode === 0 ? stdout : null
}

async function hasRules(names: NatNames): Promise<boolean> {
  return (await rulesOf(names)) !== null
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

/** The same for good: the host forgets the connections from the other ends of these links, too. */
export async function disconnect(iface: string, links: readonly GivenLink[]): Promise<void> {
  const addresses = links.filter(({ gateway }) => gateway !== '').map(insideOf)
  await runCell('removing a network link', ['disconnect', iface, ...new Set(addresses)])
}

/** Removes the rules; only when no environment of this home has a network. */
export async function removeNat(names: NatNames): Promise<void> {
  for (const family of ['ip', 'ip6']) await runTool('nft', ['delete', 'table', family, names.table])
}

function runNft(script: string): ReturnType<typeof runTool> {
  return runTool('nft', ['-f', '-'], { input: script })
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

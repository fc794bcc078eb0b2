import { isDeepStrictEqual } from 'node:util'
import { isAlive } from '../../../linux/process-identity.ts'
import { tcpTable } from '../../../linux/tcp-table.ts'
import type { EnvironmentRecord } from '../../../model/environment.ts'
import type { Ref } from '../../backend.ts'
import type { ChangedNet, Peer } from '../../facets.ts'
import type { CellNet } from '../cell/cell.ts'
import { fromRecord, type NativeInstance, toRecord } from '../instance.ts'
import type { Native } from '../native.ts'
import type { EnvironmentPlaces } from '../places.ts'
import { isWithin } from './addresses.ts'
import { forgetGivenLink, givenLink } from './given-links.ts'
import { giveRules, type LinkRules, linkRules, prepareLink, unlink } from './link.ts'
import { reconnect } from './nat.ts'

/**
 * Unplugs a life, and gives it a new link if it should have one: with the same address, if it had one. If only
 * what it is denied has changed, it keeps its link and what is not denied. Its processes continue, and may be
 * frozen. If it has ended, its next life gets the link.
 */
export async function changeNet(
  native: Native,
  { id, instance }: Ref,
  spec: Pick<EnvironmentRecord, 'net' | 'limits'>,
): Promise<ChangedNet> {
  const life = fromRecord(instance)
  const place = native.places.slot(id, life.slot)
  const runs = isAlive(life.process)
  const rules = linkRules(spec)
  return await native.exclusively('net', 'changing the network of an environment', async () => {
    if (runs && life.net && spec.net.mode === 'nat' && isOfSameLink(place, rules)) {
      return { instance, cut: await changeDenied(native, id, life, life.net, rules) }
    }
    const cut = runs ? connectionsOf(life).filter(isEstablished) : []
    await unlink(native, id)
    await forgetGivenLink(place)
    if (runs && life.net) await abortConnections(native, life.process.pid, life.net.address, [])
    const changed = { cut: shown(cut) }
    if (!runs || spec.net.mode === 'none')
      return { ...changed, instance: toRecord({ ...life, net: null }) }
    const net = await prepareLink(native, id, place, { rules, wanted: life.net })
    await reconnect(native.tools, net, life.process.pid)
    return { ...changed, instance: toRecord({ ...life, net }) }
  })
}

/** What an environment may reach on the host and beside it needs its connections there to be made anew. */
function isOfSameLink(place: EnvironmentPlaces, { allow, rate }: LinkRules): boolean {
  const given = givenLink(place)
  return given !== undefined && isDeepStrictEqual([given.allow, given.rate], [allow, rate])
}

async function changeDenied(
  native: Native,
  id: Ref['id'],
  life: NativeInstance,
  net: CellNet,
  rules: LinkRules,
): Promise<Peer[]> {
  const { pid } = life.process
  const place = native.places.slot(id, life.slot)
  await giveRules(native, id, place, { gateway: net.gateway, ...rules })
  // Whoever was killed may have taken the interface away.
  await reconnect(native.tools, net, pid)
  const { denied = [] } = rules
  const ended = ownConnections(life).filter(({ to }) => isWithin(denied, to.address))
  const addresses = [...new Set(ended.map(({ to }) => to.address))]
  if (addresses.length > 0) await abortConnections(native, pid, net.address, addresses)
  return shown(ended.filter(isEstablished))
}

const established = 1
const listening = 10
/** Enough to tell a person; the kernel's list is as long as the environment likes. */
const mostPeers = 100

type Connection = ReturnType<typeof tcpTable>[number]

/** Its TCP connections with other computers, whatever their state. */
function connectionsOf({ net, process: { pid } }: NativeInstance): Connection[] {
  return net === null ? [] : tcpTable(pid).filter(isBetween(net.address))
}

/** Without those that a server inside has accepted, which denied networks do not concern. */
function ownConnections({ net, process: { pid } }: NativeInstance): Connection[] {
  const all = tcpTable(pid)
  const served = new Set(all.flatMap(({ state, from }) => (state === listening ? from.port : [])))
  return net === null
    ? []
    : all.filter(isBetween(net.address)).filter(({ from }) => !served.has(from.port))
}

function isBetween(address: string) {
  return ({ from, to, state }: Connection) =>
    state !== listening && from.address === address && to.address !== address
}

function isEstablished({ state }: Connection): boolean {
  return state === established
}

function shown(connections: readonly Connection[]): Peer[] {
  return connections.slice(0, mostPeers).map(({ to }) => to)
}

/** As many as fit into one command line. */
const mostAddresses = 1000

/**
 * Programs learn at once that their connections are gone, instead of waiting for an answer. Where the kernel
 * cannot do it (CONFIG_INET_DIAG_DESTROY), they learn it from their own time limits. `peers` are the other
 * ends; empty: all of them.
 */
async function abortConnections(
  { log, tools }: Native,
  pid: number,
  address: string,
  peers: readonly string[],
): Promise<void> {
  const list = ['ss', '--kill', '--tcp', '--numeric', 'state', 'connected', 'src', address]
  const ends = peers.slice(0, mostAddresses).flatMap((peer, at) => {
    return at === 0 ? ['dst', peer] : ['or', 'dst', peer]
  })
  if (ends.length > 0) list.push('and', '(', ...ends, ')')
  const { exitCode, stderr } = await tools.run('nsenter', [`--net=/proc/${pid}/ns/net`, ...list])
  if (exitCode !== 0) log.warn({ pid, stderr }, 'connections of an environment cannot be aborted')
}

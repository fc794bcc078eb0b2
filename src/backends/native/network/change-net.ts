import { isAlive } from '../../../linux/process-identity.ts'
import { tcpTable } from '../../../linux/tcp-table.ts'
import type { EnvironmentRecord } from '../../../model/environment.ts'
import type { Ref } from '../../backend.ts'
import type { ChangedNet, Peer } from '../../facets.ts'
import { fromRecord, type NativeInstance, toRecord } from '../instance.ts'
import type { Native } from '../native.ts'
import { forgetGivenLink } from './given-links.ts'
import { linkRules, prepareLink, unlink } from './link.ts'
import { reconnect } from './nat.ts'

/**
 * Unplugs a life, and gives it a new link if it should have one: with the same address, if it had one. Its
 * processes continue, and may be frozen. If it has ended, its next life gets the link.
 */
export async function changeNet(
  native: Native,
  { id, instance }: Ref,
  spec: Pick<EnvironmentRecord, 'net' | 'limits'>,
): Promise<ChangedNet> {
  const life = fromRecord(instance)
  const { pid } = life.process
  const place = native.places.slot(id, life.slot)
  const runs = isAlive(life.process)
  return await native.exclusively('net', 'changing the network of an environment', async () => {
    const cut = runs ? outsidePeers(life) : []
    await unlink(native, id)
    await forgetGivenLink(place)
    if (runs && life.net) await abortConnections(native, pid, life.net.address)
    if (!runs || spec.net.mode === 'none')
      return { instance: toRecord({ ...life, net: null }), cut }
    const net = await prepareLink(native, id, place, { rules: linkRules(spec), wanted: life.net })
    await reconnect(native.tools, net, pid)
    return { instance: toRecord({ ...life, net }), cut }
  })
}

const established = 1
/** Enough to tell a person; the kernel's list is as long as the environment likes. */
const mostPeers = 100

/** The other ends of its TCP connections to other computers. */
function outsidePeers({ net, process: { pid } }: NativeInstance): Peer[] {
  if (net === null) return []
  const { address } = net
  return tcpTable(pid)
    .filter(
      ({ from, to, state }) =>
        state === established && from.address === address && to.address !== address,
    )
    .slice(0, mostPeers)
    .map(({ to }) => to)
}

/**
 * Programs learn at once that their connections are gone, instead of waiting for an answer. Where the kernel
 * cannot do it (CONFIG_INET_DIAG_DESTROY), they learn it from their own time limits.
 */
async function abortConnections(
  { log, tools }: Native,
  pid: number,
  address: string,
): Promise<void> {
  const list = ['ss', '--kill', '--tcp', '--numeric', 'state', 'connected', 'src', address]
  const { exitCode, stderr } = await tools.run('nsenter', [`--net=/proc/${pid}/ns/net`, ...list])
  if (exitCode !== 0) log.warn({ pid, stderr }, 'connections of an environment cannot be aborted')
}

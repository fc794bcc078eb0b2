import { imagesFor } from '../../../criu/image-variants.ts'
import { openImages } from '../../../criu/images/dump-images.ts'
import { outsideConnections } from '../../../criu/images/tcp/outside-connections.ts'
import type { TcpSocket } from '../../../criu/images/tcp/sockets.ts'
import { connectionInWords } from '../../../criu/losses/lost-connections.ts'
import { currentHome } from '../../../criu/memory/generation.ts'
import { isAlive } from '../../../linux/process-identity.ts'
import { ConflictError } from '../../../model/errors.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import type { Ref } from '../../backend.ts'
import type { Connections } from '../../facets.ts'
import { imageOf } from '../image.ts'
import { fromRecord, type NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { holdConnections, holdInterface, releaseConnections, releaseInterface } from './hold.ts'
import { ensureRules } from './link.ts'
import { interfaceName } from './nat.ts'

export function nativeConnections(native: Native): Connections {
  const { tools, nat } = native
  return {
    hold: async (id) => {
      await ensureRules(native)
      await holdInterface(tools, nat, interfaceName(nat, id))
    },
    release: (id) => releaseInterface(tools, nat, interfaceName(nat, id)),
    keptBy: async (snapshot) => (await outsideOf(native, snapshot)).map(connectionInWords),
    give: (from, heir, snapshot) => give(native, from, heir, snapshot),
  }
}

async function outsideOf(
  { places }: Native,
  snapshot: SnapshotRecord,
): Promise<readonly TcpSocket[]> {
  if (!imageOf(snapshot).captured.includes('processes')) return []
  const home = await currentHome(places.snapshot(snapshot.id))
  return outsideConnections(openImages(await imagesFor(home, 'open')).files)
}

async function give(native: Native, from: Ref, heir: Ref, snapshot: SnapshotRecord): Promise<void> {
  const { tools, nat } = native
  const sockets = await outsideOf(native, snapshot)
  if (sockets.length === 0) return
  const original = fromRecord(from.instance)
  const addresses = [addressOf(original), addressOf(fromRecord(heir.instance))] as const
  const words = sockets.map((each) => `${each.from.port}:${each.to.address}:${each.to.port}`)
  const seen = await tools.runCell('finding connections', [
    'tracked-connections',
    addresses[0],
    ...words,
  ])
  const connections = seen.trim().split('\n')
  const ifaces = [from, heir].map(({ id }) => interfaceName(nat, id))
  await holdConnections(tools, nat, ifaces, connections)
  try {
    const args = ['give-connections', String(original.process.pid), ...addresses, ...words]
    await tools.runCell('giving connections to a fork', args)
  } finally {
    await releaseConnections(tools, nat, connections)
  }
}

function addressOf({ process, net }: NativeInstance): string {
  if (net !== null && isAlive(process)) return net.address
  throw new ConflictError('the environment whose connections a fork should get has changed', {
    remedy: 'fork it again',
  })
}

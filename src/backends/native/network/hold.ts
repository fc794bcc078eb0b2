import type { Tools } from '../../../linux/tools.ts'
import { hasRules, type NatNames, nft } from './nat.ts'

/** Whoever was killed meanwhile releases nothing. TCP tries for longer than this. */
const longestHoldSeconds = 60

/** Cuts the environment behind an interface off, also if that does not exist yet. Nobody's connections end by it. */
export async function holdInterface(tools: Tools, names: NatNames, iface: string): Promise<void> {
  await nft(
    tools,
    'holding connections',
    without(names, 'held', quoted(iface)) + held(names, iface),
  )
}

export async function releaseInterface(
  tools: Tools,
  names: NatNames,
  iface: string,
): Promise<void> {
  if (!(await hasRules(tools, names))) return
  await nft(tools, 'releasing connections', without(names, 'held', quoted(iface)))
}

/**
 * Fails unless all of these interfaces were held until now, holds them for longer, and drops what comes in on
 * these connections, before the host looks for whom it is. They are written as native/cell/network/give.c does.
 */
export async function holdConnections(
  tools: Tools,
  names: NatNames,
  ifaces: readonly string[],
  connections: readonly string[],
): Promise<void> {
  const again = ifaces.map(
    (iface) => `delete element ip ${names.table} held { ${quoted(iface)} }\n${held(names, iface)}`,
  )
  const script = [...again, ...connections.map((each) => added(names, 'moving', each))]
  await nft(tools, 'holding connections', script.join(''))
}

export async function releaseConnections(
  tools: Tools,
  names: NatNames,
  connections: readonly string[],
): Promise<void> {
  const script = connections.map((each) => without(names, 'moving', each))
  await nft(tools, 'releasing connections', script.join(''))
}

const quoted = (iface: string) => `"${iface}"`

function held(names: NatNames, iface: string): string {
  return added(names, 'held', quoted(iface))
}

function added({ table }: NatNames, set: string, element: string): string {
  return `add element ip ${table} ${set} { ${element} timeout ${longestHoldSeconds}s }\n`
}

/** nft refuses to delete what is missing, but lets us add what exists. */
function without(names: NatNames, set: string, element: string): string {
  return `${added(names, set, element)}delete element ip ${names.table} ${set} { ${element} }\n`
}

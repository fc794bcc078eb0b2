import type { Tools } from '../../../linux/tools.ts'
import { hasRules, type NatNames, nft } from './nat.ts'

/**
 * The kernel lets what was not used in a second pass later at once, and this in addition. Packets of up to
 * 64 KiB cross the link as one, which must fit however low the rate is.
 */
const burstBytes = 64 * 1024

/** Limits what an environment sends, and what it receives, to this many bytes per second. */
export async function limitTraffic(
  tools: Tools,
  names: NatNames,
  iface: string,
  bytes: number,
): Promise<void> {
  await nft(tools, 'limiting the traffic of an environment', trafficScript(names, iface, bytes))
}

/** What an earlier life of the environment has left behind is replaced. */
export function trafficScript(names: NatNames, iface: string, bytes: number): string {
  const limit = `rate over ${bytes} bytes/second burst ${burstBytes} bytes`
  return without(names, iface) + limitScript(names, iface, limit)
}

/** Undoes `limitTraffic`; does nothing if there is nothing to undo. */
export async function liftTraffic(tools: Tools, names: NatNames, iface: string): Promise<void> {
  if (!(await hasRules(tools, names))) return
  await nft(tools, 'removing limits of traffic', without(names, iface))
}

/** nft refuses to delete what is missing, but lets us add what exists. */
function without(names: NatNames, iface: string): string {
  const { table } = names
  const each = ['up', 'down'].map(
    (way) => `delete element ip ${table} ${way}links { "${iface}" }
delete limit ip ${table} ${way}_${iface}
`,
  )
  return limitScript(names, iface, 'rate over 1 mbytes/second') + each.join('')
}

function limitScript({ table }: NatNames, iface: string, limit: string): string {
  const each = ['up', 'down'].map(
    (way) => `add limit ip ${table} ${way}_${iface} { ${limit}; }
add element ip ${table} ${way}links { "${iface}" : "${way}_${iface}" }
`,
  )
  return each.join('')
}

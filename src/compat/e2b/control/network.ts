import * as z from 'zod/mini'
import type { EnvironmentInfo } from '../../../api/contract/data/environment.ts'
import type { NetMode } from '../../../model/environment.ts'
import { quote } from '../../../model/text/quote.ts'
import { parseCidr } from '../../../model/values/cidr.ts'
import { notHere } from '../failures.ts'
import { ownLabels } from '../owned.ts'

const hosts = z.array(z.string().check(z.maxLength(256))).check(z.maxLength(1000))

const egress = {
  allowOut: z.nullish(hosts),
  denyOut: z.nullish(hosts),
  rules: z.nullish(z.unknown()),
  egressProxy: z.nullish(z.unknown()),
}

const networkRules = z.object({ ...egress, allowPublicTraffic: z.nullish(z.boolean()) })

/** The part of a new sandbox that is about its network. */
export const network = {
  allow_internet_access: z.nullish(z.boolean()),
  network: z.nullish(networkRules),
}

/** It replaces everything: what an update leaves out is no longer allowed or denied. */
export const networkUpdate = z.object({
  allow_internet_access: z.nullish(z.boolean()),
  ...egress,
})

type Wanted = z.infer<z.ZodMiniObject<typeof network>>

const everywhere = '0.0.0.0/0'

/** What a sandbox reaches. As with E2B, that is the internet unless the client says otherwise. */
export interface Egress {
  readonly mode: NetMode
  readonly denyOut: readonly string[]
  readonly allowOut: readonly string[]
}

/** What a client asks for of a new sandbox. */
export function wantedEgress({ allow_internet_access, network }: Wanted): Egress {
  return egressOf({ ...network, allow_internet_access })
}

export function isRestricted({ mode, denyOut }: Egress): boolean {
  return mode === 'none' || denyOut.length > 0
}

/** Whoever reaches this daemon reaches the ports of its sandboxes, unless a client says otherwise. */
export function wantsPublicPorts({ network }: Pick<Wanted, 'network'>): boolean {
  return network?.allowPublicTraffic !== false
}

/** What is allowed counts more than what is denied, and what neither list has is allowed. */
export function egressOf(wanted: z.infer<typeof networkUpdate>): Egress {
  const { rules, egressProxy, allow_internet_access: internet } = wanted
  if (rules && Object.keys(rules).length > 0) throw notHere('a rule for hosts', 'leave out `rules`')
  if (egressProxy) throw notHere('a proxy for outgoing traffic', 'leave out `egressProxy`')
  const allowed = (wanted.allowOut ?? []).map(networkOf)
  const denied = (wanted.denyOut ?? []).map(networkOf)
  if (internet === false) denied.push(everywhere)
  if (denied.length === 0) return { mode: 'nat', denyOut: [], allowOut: [] }
  const isClosed = allowed.length === 0 && denied.includes(everywhere)
  return isClosed
    ? { mode: 'none', denyOut: [], allowOut: [] }
    : { mode: 'nat', denyOut: denied, allowOut: allowed }
}

function networkOf(host: string): string {
  if (/[a-z*]/i.test(host) && !host.includes(':')) {
    throw notHere(`the name of a domain (${quote(host)})`, 'list IPv4 addresses and networks')
  }
  return parseCidr(host)
}

/** What `getInfo` answers; undefined if it is what a sandbox has that nobody said anything about. */
export function shownNetwork({ net, labels }: EnvironmentInfo): object | undefined {
  const denied = net.mode === 'none' ? [everywhere] : net.denyOut
  const isPublic = labels[ownLabels.public] !== 'no'
  if (denied === undefined && isPublic) return undefined
  return {
    allowPublicTraffic: isPublic,
    ...(denied && { denyOut: denied.map(shown) }),
    ...(net.mode === 'nat' && net.allowOut && { allowOut: net.allowOut.map(shown) }),
  }
}

/** A single address as clients write it. */
function shown(network: string): string {
  return network.replace(/\/32$/, '')
}

import * as z from 'zod/mini'
import type { NetMode } from '../../../model/environment.ts'
import { notHere } from '../failures.ts'

const hosts = z.array(z.string().check(z.maxLength(256))).check(z.maxLength(100))

const networkRules = z.object({
  allowOut: z.nullish(hosts),
  denyOut: z.nullish(hosts),
  allowPublicTraffic: z.nullish(z.boolean()),
  rules: z.nullish(z.unknown()),
  egressProxy: z.nullish(z.unknown()),
})

/** The part of a new sandbox that is about its network. */
export const network = {
  allow_internet_access: z.nullish(z.boolean()),
  network: z.nullish(networkRules),
}

export const networkUpdate = z.object({
  allow_internet_access: z.nullish(z.boolean()),
  allowOut: z.nullish(hosts),
  denyOut: z.nullish(hosts),
  rules: z.nullish(z.unknown()),
  egressProxy: z.nullish(z.unknown()),
})

type Wanted = z.infer<z.ZodMiniObject<typeof network>>

const everywhere = '0.0.0.0/0'

/** The network of a new environment. As with E2B, it reaches the internet unless the client says otherwise. */
export function networkOf({ allow_internet_access: internet, network }: Wanted): {
  readonly net: NetMode
} {
  return { net: modeOf(network ?? {}, internet ?? undefined) ?? 'nat' }
}

/** Whoever reaches this daemon reaches the ports of its sandboxes, unless a client says otherwise. */
export function wantsPublicPorts({ network }: Pick<Wanted, 'network'>): boolean {
  return network?.allowPublicTraffic !== false
}

/** Everything or nothing: an environment has no list of hosts that it may reach. */
function modeOf(
  { allowOut, denyOut, rules, egressProxy }: z.infer<typeof networkRules>,
  internet: boolean | undefined,
): NetMode | undefined {
  if (rules && Object.keys(rules).length > 0) throw notHere('a rule for hosts', 'leave out `rules`')
  if (egressProxy) throw notHere('a proxy for outgoing traffic', 'leave out `egressProxy`')
  const denied = denyOut ?? []
  const allowed = allowOut ?? []
  if (allowed.some((host) => host !== everywhere) || denied.some((host) => host !== everywhere)) {
    throw notHere('a list of hosts', `allow or deny all of them (${everywhere})`)
  }
  if (denied.length > 0 && allowed.length === 0) return 'none'
  if (internet === undefined) return allowed.length > 0 ? 'nat' : undefined
  return internet ? 'nat' : 'none'
}

/** The mode that an update asks for. */
export function updatedMode(update: z.infer<typeof networkUpdate>): NetMode | undefined {
  const { allow_internet_access: internet, ...rest } = update
  return modeOf(rest, internet ?? undefined)
}

import type { EnvironmentRecord } from '../../../model/environment.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { CellNet } from '../cell/cell.ts'
import type { Native } from '../native.ts'
import type { EnvironmentPlaces } from '../places.ts'
import type { LinkAddresses } from './addresses.ts'
import { type GivenLink, givenLinks, linksOfOthers, writeGivenLink } from './given-links.ts'
import { allow, disallow, disconnect, ensureNat, freeLink, interfaceName } from './nat.ts'
import { liftTraffic, limitTraffic } from './traffic-limits.ts'

type LinkRules = Omit<GivenLink, 'gateway'>

/** What an environment may reach over its link, and how fast. */
export function linkRules({ net, limits }: Pick<EnvironmentRecord, 'net' | 'limits'>): LinkRules {
  const { netBytes: rate } = limits
  return { allow: net.allow, ...(rate !== undefined && { rate }) }
}

/** Chooses a link and makes its rules; the interface comes next. The caller holds the resource `net`. */
export async function prepareLink(
  { nat, places, settings, tools }: Native,
  id: EnvironmentId,
  place: EnvironmentPlaces,
  { rules, wanted }: { readonly rules: LinkRules; readonly wanted?: LinkAddresses | null },
): Promise<CellNet> {
  await ensureNat(tools, nat, settings.net.pool)
  const name = interfaceName(nat, id)
  const choice = { others: linksOfOthers(places, id), ...(wanted && { wanted }) }
  const link = freeLink(nat, settings.net.pool, name, choice)
  await writeGivenLink(place, { gateway: link.gateway, ...rules })
  await allow(tools, nat, name, rules.allow)
  if (rules.rate !== undefined) await limitTraffic(tools, nat, name, rules.rate)
  return { interface: name, ...link }
}

/** Removes the interface and the rules of an environment; does nothing if it has none. */
export async function unlink({ nat, places, tools }: Native, id: EnvironmentId): Promise<void> {
  const links = givenLinks(places, id)
  if (links.length === 0) return
  const iface = interfaceName(nat, id)
  await disallow(tools, nat, iface, [...new Set(links.flatMap((link) => link.allow))])
  if (links.some(({ rate }) => rate !== undefined)) await liftTraffic(tools, nat, iface)
  await disconnect(tools, iface, links)
}

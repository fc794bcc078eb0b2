import type { EnvironmentRecord } from '../../../model/environment.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { CellNet } from '../cell/cell.ts'
import type { Native } from '../native.ts'
import type { EnvironmentPlaces } from '../places.ts'
import { type LinkAddresses, rangesWithout } from './addresses.ts'
import { allow, allowedScript, disallow } from './allowed.ts'
import { deniedScript, deny, undeny } from './denied.ts'
import { allLinks, type GivenLink, givenLinks, writeGivenLink } from './given-links.ts'
import { disconnect, ensureNat, freeLink, interfaceName, type NatNames } from './nat.ts'
import { liftTraffic, limitTraffic, trafficScript } from './traffic-limits.ts'

export type LinkRules = Omit<GivenLink, 'gateway'>

/** What an environment may reach over its link, and how fast. What is allowed counts more than what is denied. */
export function linkRules({ net, limits }: Pick<EnvironmentRecord, 'net' | 'limits'>): LinkRules {
  const { netBytes: rate } = limits
  const { denyOut = [], allowOut = [] } = net
  const denied = rangesWithout(denyOut, [...allowOut, ...net.allow])
  return {
    allow: net.allow,
    ...(denied.length > 0 && { denied }),
    ...(rate !== undefined && { rate }),
  }
}

/** Makes the rules that all environments share, if they are missing. */
export async function ensureRules({ nat, places, settings, tools }: Native): Promise<void> {
  await ensureNat(tools, nat, settings.net.pool, () =>
    allLinks(places)
      .map(({ id, links }) => scriptOf(nat, interfaceName(nat, id), links))
      .join(''),
  )
}

/** The rules of one environment. During a swap, both of its lives have them. */
function scriptOf(nat: NatNames, iface: string, links: readonly GivenLink[]): string {
  const networks = links.flatMap((link) => link.allow)
  const others = links.map(({ denied, rate }) => [
    denied === undefined ? '' : deniedScript(nat, iface, denied),
    rate === undefined ? '' : trafficScript(nat, iface, rate),
  ])
  return [allowedScript(nat, iface, networks), ...others.flat()].join('')
}

/** Chooses a link and makes its rules; the interface comes next. The caller holds the resource `net`. */
export async function prepareLink(
  native: Native,
  id: EnvironmentId,
  place: EnvironmentPlaces,
  { rules, wanted }: { readonly rules: LinkRules; readonly wanted?: LinkAddresses | null },
): Promise<CellNet> {
  const { nat, places, settings } = native
  const name = interfaceName(nat, id)
  // During a swap, a live one has no interface for a moment.
  const others = allLinks(places).flatMap((each) => (each.id === id ? [] : each.links))
  const link = freeLink(nat, settings.net.pool, name, { others, ...(wanted && { wanted }) })
  await giveRules(native, id, place, { gateway: link.gateway, ...rules })
  return { interface: name, ...link }
}

/** Makes the rules of a link, also of one that is in use. The caller holds the resource `net`. */
export async function giveRules(
  native: Native,
  id: EnvironmentId,
  place: EnvironmentPlaces,
  link: GivenLink,
): Promise<void> {
  const { nat, places, tools } = native
  const iface = interfaceName(nat, id)
  await ensureRules(native)
  // Whoever finds no denied networks written down looks for no rules of any.
  if (link.denied === undefined && hasDenied(givenLinks(places, id)))
    await undeny(tools, nat, iface)
  await writeGivenLink(place, link)
  await allow(tools, nat, iface, link.allow)
  if (link.rate !== undefined) await limitTraffic(tools, nat, iface, link.rate)
  if (link.denied !== undefined) await deny(tools, nat, iface, link.denied)
}

/** Removes the interface and the rules of an environment; does nothing if it has none. */
export async function unlink({ nat, places, tools }: Native, id: EnvironmentId): Promise<void> {
  const links = givenLinks(places, id)
  if (links.length === 0) return
  const iface = interfaceName(nat, id)
  await disallow(tools, nat, iface, [...new Set(links.flatMap((link) => link.allow))])
  if (links.some(({ rate }) => rate !== undefined)) await liftTraffic(tools, nat, iface)
  if (hasDenied(links)) await undeny(tools, nat, iface)
  await disconnect(tools, iface, links)
}

function hasDenied(links: readonly GivenLink[]): boolean {
  return links.some(({ denied }) => denied !== undefined)
}

import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { namesIn } from '../../../linux/files/names-in.ts'
import { rm, writeFile } from '../../../linux/files/quick-fs.ts'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { EnvironmentPlaces, Places } from '../places.ts'
import type { AddressRange } from './addresses.ts'

/** The network link of one life, written down before the link is made. */
export interface GivenLink {
  /** the host's end */
  readonly gateway: string
  /** networks that it may reach among the closed addresses */
  readonly allow: readonly string[]
  /** addresses that it does not reach, in order; absent: none */
  readonly denied?: readonly AddressRange[]
  /** bytes per second in each direction; absent: no limit */
  readonly rate?: number
}

const linkFile: z.ZodMiniType<GivenLink> = z.object({
  gateway: z.string(),
  allow: z.array(z.string()),
  denied: z.exactOptional(z.array(z.object({ first: z.string(), last: z.string() }))),
  rate: z.exactOptional(z.number()),
})

export async function writeGivenLink(place: EnvironmentPlaces, link: GivenLink): Promise<void> {
  await writeFile(place.net, JSON.stringify(link))
}

/** For a life that no longer has one. */
export async function forgetGivenLink(place: EnvironmentPlaces): Promise<void> {
  await rm(place.net, { force: true })
}

/** The link of one life; undefined if it has none. */
export function givenLink(place: EnvironmentPlaces): GivenLink | undefined {
  return readLink(place.net)[0]
}

/** The links of all lives of an environment. */
export function givenLinks(places: Places, id: EnvironmentId): GivenLink[] {
  return namesIn(places.env(id)).flatMap((slot) => readLink(places.slot(id, Number(slot)).net))
}

/** The links of all environments. During a swap, a live one has no interface for a moment. */
export function allLinks(places: Places): { id: EnvironmentId; links: GivenLink[] }[] {
  const ids = namesIn(places.envs).filter(isEnvironmentId)
  return ids.map((id) => ({ id, links: givenLinks(places, id) }))
}

function readLink(path: string): GivenLink[] {
  const text = ifExists(() => readFileSync(path, 'utf8'))
  if (text === null) return []
  try {
    return [linkFile.parse(JSON.parse(text))]
  } catch {
    // The writer was killed before it made the link.
    return []
  }
}

import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { namesIn } from '../../../linux/files/names-in.ts'
import { rm, writeFile } from '../../../linux/files/quick-fs.ts'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { EnvironmentPlaces, Places } from '../places.ts'

/** The network link of one life, written down before the link is made. */
export interface GivenLink {
  /** the host's end */
  readonly gateway: string
  /** networks that it may reach among the closed addresses */
  readonly allow: readonly string[]
  /** bytes per second in each direction; absent: no limit */
  readonly rate?: number
}

const givenLink: z.ZodMiniType<GivenLink> = z.object({
  gateway: z.string(),
  allow: z.array(z.string()),
  rate: z.exactOptional(z.number()),
})

export async function writeGivenLink(place: EnvironmentPlaces, link: GivenLink): Promise<void> {
  await writeFile(place.net, JSON.stringify(link))
}

/** For a life that no longer has one. */
export async function forgetGivenLink(place: EnvironmentPlaces): Promise<void> {
  await rm(place.net, { force: true })
}

/** The links of all lives of an environment. */
export function givenLinks(places: Places, id: EnvironmentId): GivenLink[] {
  return namesIn(places.env(id)).flatMap((slot) => readLink(places.slot(id, Number(slot)).net))
}

/** The links of all other environments. During a swap, a live one has no interface for a moment. */
export function linksOfOthers(places: Places, id: EnvironmentId): GivenLink[] {
  const others = namesIn(places.envs).filter(isEnvironmentId)
  return others.filter((other) => other !== id).flatMap((other) => givenLinks(places, other))
}

function readLink(path: string): GivenLink[] {
  const text = ifExists(() => readFileSync(path, 'utf8'))
  if (text === null) return []
  try {
    return [givenLink.parse(JSON.parse(text))]
  } catch {
    // The writer was killed before it made the link.
    return []
  }
}

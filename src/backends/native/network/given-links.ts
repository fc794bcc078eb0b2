import { readdirSync, readFileSync } from 'node:fs'
import { ifThere } from '../../../linux/if-there.ts'
import { writeFile } from '../../../linux/quick-fs.ts'
import { type EnvironmentId, isEnvironmentId } from '../../../model/ids.ts'
import type { EnvironmentPlaces, Places } from '../places.ts'

/** What a life of an environment was given of the network, written down before it is given. */
export interface GivenLink {
  /** the host's end */
  readonly gateway: string
  /** what is open to it among the closed addresses */
  readonly allow: readonly string[]
}

export async function writeGivenLink(place: EnvironmentPlaces, link: GivenLink): Promise<void> {
  await writeFile(place.net, JSON.stringify(link))
}

/** Those of all lives of an environment. */
export function givenLinks(places: Places, id: EnvironmentId): GivenLink[] {
  return namesIn(places.env(id)).flatMap((slot) => readLink(places.slot(id, Number(slot)).net))
}

/** Those of all other environments. A live one has no interface for a moment while it is exchanged. */
export function linksOfOthers(places: Places, id: EnvironmentId): GivenLink[] {
  const others = namesIn(places.envs).filter(isEnvironmentId)
  return others.filter((other) => other !== id).flatMap((other) => givenLinks(places, other))
}

function readLink(path: string): GivenLink[] {
  const text = ifThere(() => readFileSync(path, 'utf8'))
  if (text === null) return []
  try {
    return [JSON.parse(text) as GivenLink]
  } catch {
    // Whoever wrote it was killed in the middle, and gave nothing.
    return [{ gateway: '', allow: [] }]
  }
}

/** Environments come and go while their directories are read. */
function namesIn(dir: string): string[] {
  return ifThere(() => readdirSync(dir)) ?? []
}

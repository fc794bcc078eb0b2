import { readdirSync } from 'node:fs'
import { type EnvironmentPlaces, placesOf } from '../../src/backends/native/places.ts'
import type { EnvironmentId } from '../../src/model/ids.ts'

/** Where the environment that is alive now keeps its things. */
export function environmentPlaces(home: string, id: EnvironmentId): EnvironmentPlaces {
  const places = placesOf(home)
  const slots = readdirSync(places.env(id)).map(Number)
  return places.slot(id, Math.max(...slots))
}

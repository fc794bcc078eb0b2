import { join } from 'node:path'
import { type EnvironmentPlaces, placesOf } from '../../src/backends/native/places.ts'
import type { EnvironmentId } from '../../src/model/ids.ts'
import { openStore } from '../../src/store/open-store.ts'

/** Where the living environment keeps its data; its spares have their own places. */
export function environmentPlaces(home: string, id: EnvironmentId): EnvironmentPlaces {
  using store = openStore(home)
  const instance = store.environments.get(id)?.instance
  const slot = Number(instance?.slot)
  const place = placesOf(home).slot(id, slot)
  if (instance?.files !== 'subvolume') return place
  const files = placesOf(home).filesOf(id, slot)
  return { ...place, upper: join(files, 'upper'), work: join(files, 'work') }
}

import { type EnvironmentPlaces, placesOf } from '../../src/backends/native/places.ts'
import type { EnvironmentId } from '../../src/model/ids.ts'
import { openStore } from '../../src/store/open-store.ts'

/** Where the environment that is alive now keeps its things; spares of it have places of their own. */
export function environmentPlaces(home: string, id: EnvironmentId): EnvironmentPlaces {
  using store = openStore(home)
  return placesOf(home).slot(id, Number(store.environments.get(id)?.instance?.slot))
}

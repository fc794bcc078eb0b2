import type { EnvironmentRecord } from '../../model/environment.ts'
import type { Engine } from '../engine.ts'

/** Gives an environment the network that its record says, after a change that was not completed. */
export async function putBackNet(
  { backend, store }: Engine,
  { id, net, limits, instance, backend: name }: EnvironmentRecord,
): Promise<void> {
  const { networking } = backend(name)
  if (networking === undefined || instance === null) return
  const changed = await networking.change({ id, instance }, { net, limits })
  store.environments.update(id, { instance: changed.instance })
}

import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { changedLabels } from '../../model/values/labels.ts'
import type { Engine } from '../engine.ts'

/** Nothing inside knows the labels of an environment, so that only its record changes. */
export function labelEnvironment(
  { store }: Engine,
  id: EnvironmentId,
  changes: Readonly<Record<string, string | null>>,
): EnvironmentRecord {
  return store.transaction(() => {
    const { labels } = store.environments.resolve(id)
    return store.environments.update(id, { labels: changedLabels(labels, changes) })
  })
}

import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { parseName } from '../../model/values/names.ts'
import type { Engine } from '../engine.ts'
import { hold } from '../recovery/recover.ts'
import { identityOf } from './identity.ts'

/** Gives an environment another name. It keeps its hostname, because programs inside may rely on it. */
export async function rename(
  engine: Engine,
  id: EnvironmentId,
  name: string,
): Promise<EnvironmentRecord> {
  const next = parseName(name)
  await using _lease = await hold(engine, id, 'rename')
  const { environments } = engine.store
  const before = environments.resolve(id).name
  const record = environments.update(id, { name: next })
  try {
    const { instance } = record
    if (instance) {
      await engine.backend(record.backend).identify({ id, instance }, identityOf(record))
    }
  } catch (error) {
    environments.update(id, { name: before })
    throw error
  }
  return record
}

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type EnvironmentId, isEnvironmentId } from '../../model/ids.ts'
import { namesIn } from '../files/names-in.ts'

/** One life of an environment. Its directory is ENVIRONMENT/SLOT. */
export interface LifeName {
  readonly id: EnvironmentId
  readonly slot: number
}

/**
 * Takes a number and a directory for a new life, before anything runs, so that whatever is left of it is found. The
 * number is higher than any before, even after a crash.
 */
export async function takeLife(envs: string, id: EnvironmentId): Promise<LifeName> {
  for (let slot = Date.now(); ; ) {
    await mkdir(join(envs, id), { recursive: true })
    try {
      await mkdir(join(envs, id, String(slot)))
      return { id, slot }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') slot += 1
      // ENOENT: the end of the environment's last life has just removed the directory above.
      else if (code !== 'ENOENT') throw error
    }
  }
}

/** All lives that have a directory, or those of one environment. */
export function livesIn(envs: string, only?: EnvironmentId): LifeName[] {
  const ids = only === undefined ? namesIn(envs).filter(isEnvironmentId) : [only]
  return ids.flatMap((id) =>
    namesIn(join(envs, id))
      .map(Number)
      .filter(Number.isSafeInteger)
      .map((slot) => ({ id, slot })),
  )
}

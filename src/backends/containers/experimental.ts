import { existsSync } from 'node:fs'
import * as z from 'zod/mini'
import { PrerequisiteError } from '../../model/errors.ts'
import type { Room } from './room.ts'

const info = z.object({ DockerRootDir: z.string(), ExperimentalBuild: z.nullish(z.boolean()) })

/** Docker dumps processes only if it is experimental, and gives the images to nobody but root. */
export async function requireExperimental({ kind, client }: Room): Promise<void> {
  if (kind.checkpoints !== 'directory') return
  const found = await client().json(info, { method: 'GET', path: '/info', timeoutMs: 10_000 })
  const at = `the docker engine at ${client().where}`
  if (found.ExperimentalBuild !== true) {
    throw new PrerequisiteError(`${at} cannot keep processes: it is not experimental`, {
      remedy:
        'write {"experimental": true} to /etc/docker/daemon.json and restart Docker, or leave out --processes',
    })
  }
  if (!existsSync(found.DockerRootDir)) {
    throw new PrerequisiteError(
      `${at} cannot keep processes: its directory ${found.DockerRootDir} is not on this machine`,
      { remedy: 'run Forkpoint as root on the machine of the engine, or leave out --processes' },
    )
  }
}

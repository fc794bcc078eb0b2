// A Forkpoint home for the examples of one file, within the run's own, so that other tests'
// environments do not appear in shown listings.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Forkpoint } from '../../../src/index.ts'
import { forgetHome, knowHome } from '../../support/known-homes.ts'

export const whyNoCells =
  process.geteuid?.() === 0 ? undefined : 'only root can create environments'

export interface ExampleHome {
  readonly path: string
  /** variables of a process that uses this home */
  readonly env: NodeJS.ProcessEnv
  /** Removes every environment; examples that fail leave some. */
  clear(): Promise<string[]>
  remove(): Promise<void>
}

export function makeExampleHome(name: string): ExampleHome {
  const path = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', `${name}-`))
  knowHome(path)
  const clear = async () => {
    await using forkpoint = await Forkpoint.open({ settings: { home: path } })
    const left = await forkpoint.list()
    for (const environment of left) await environment.remove()
    await forkpoint.prune()
    return left.map((environment) => environment.name ?? environment.id)
  }
  return {
    path,
    env: { ...process.env, FORKPOINT_HOME: path, NO_COLOR: '1' },
    clear,
    remove: async () => {
      await clear()
      forgetHome(path)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

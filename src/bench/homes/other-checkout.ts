import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Forkpoint } from '../../index.ts'
import { InvalidInputError, PrerequisiteError } from '../../model/errors.ts'
import { runTool } from '../run-tool.ts'

/** The class that opens a home. */
export type Api = typeof Forkpoint

/** What another checkout offers, and what to call it in the report. */
export interface OtherCheckout {
  readonly api: Api
  readonly name: string
}

/**
 * Loads the API of another checkout, which runs that checkout's own engine and C programs in this
 * process. Its interface may be older than ours, but not by much.
 */
export async function loadCheckout(given: string): Promise<OtherCheckout> {
  const dir = resolve(given)
  if (!existsSync(join(dir, 'src/index.ts')))
    throw new InvalidInputError(`${dir} is not a checkout of Forkpoint`, {
      remedy: 'make one with `git worktree add DIR COMMIT`',
    })
  const built = join(dir, 'dist/index.js')
  for (const path of [built, join(dir, 'native/build/cell')]) {
    if (!existsSync(path))
      throw new PrerequisiteError(`${path} is missing`, {
        remedy: `build the checkout: run \`${dir}/forkpoint doctor\` once`,
      })
  }
  const module: unknown = await import(pathToFileURL(built).href)
  if (!offersForkpoint(module))
    throw new InvalidInputError(`${built} does not export the class Forkpoint`, {
      remedy: 'choose a checkout that is not so old',
    })
  return { api: module.Forkpoint, name: await nameOf(dir) }
}

function offersForkpoint(module: unknown): module is { readonly Forkpoint: Api } {
  if (typeof module !== 'object' || module === null || !('Forkpoint' in module)) return false
  const { Forkpoint: api } = module
  return typeof api === 'function' && 'open' in api && 'settings' in api
}

/** Its commit; its path if git does not know it. */
async function nameOf(dir: string): Promise<string> {
  const words = ['-C', dir, 'rev-parse', '--short', 'HEAD']
  return await runTool('git', words).then(
    ({ stdout }) => stdout.trim(),
    () => dir,
  )
}

import { lstat, mkdir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InvalidInputError } from '../../../model/errors.ts'
import { trustedUsers, whoMayChange } from '../../../model/files/trust.ts'
import { quote } from '../../../model/text/quote.ts'

/** Makes the directory if it is missing; returns its real path. Refuses one that others may change. */
export async function openExportDir(given: string): Promise<string> {
  try {
    await mkdir(given, { recursive: true, mode: 0o700 })
    const path = await realpath(given)
    await requireTrusted(path)
    return path
  } catch (error) {
    if (error instanceof InvalidInputError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new InvalidInputError(`exportDir: cannot use ${quote(given)}: ${why}`, {
      remedy: 'give a directory that exists or can be made',
      cause: error,
    })
  }
}

/** An archive has the memory of an environment: nobody else may read it, or put another in its place. */
async function requireTrusted(path: string): Promise<void> {
  const trusted = trustedUsers(process.geteuid?.() ?? 0, process.env.SUDO_UID)
  for (let at = path; ; at = dirname(at)) {
    const stats = await lstat(at)
    const who = whoMayChange(stats, trusted, at === path ? 'nobody else' : 'sticky is enough')
    if (who !== null || !stats.isDirectory()) {
      throw new InvalidInputError(
        `exportDir: ${quote(at)} ${who ?? 'is not a directory'}, so checkpoints are not safe there`,
        { remedy: 'give a directory that only you can write, as are those above it' },
      )
    }
    if (dirname(at) === at) return
  }
}

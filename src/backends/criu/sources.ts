import { stat } from 'node:fs/promises'
import { isBelow } from '../../linux/mask/outermost.ts'
import { capabilityOf } from '../../model/capabilities.ts'
import type { Source } from '../../model/environment.ts'
import { InvalidInputError, NotFoundError, UnsupportedError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** Directories that belong to the kernel, or that every process needs as they are. */
const notCopied = ['/proc', '/sys', '/dev']

export function noSuchSource({ kind }: Source): UnsupportedError {
  return new UnsupportedError(
    capabilityOf({ kind }),
    `the criu backend cannot start from ${kind}`,
    {
      remedy: 'use dir:PATH',
    },
  )
}

/** Refuses an unusable directory before anything is copied. */
export async function validateSource(source: Source, home: string): Promise<{ workdir: string }> {
  if (source.kind !== 'dir') throw noSuchSource(source)
  const { path } = source
  // A directory that cannot be looked at cannot be used either.
  const info = await stat(path).catch(() => null)
  const remedy = 'give the path of a directory that exists'
  if (info === null) throw new NotFoundError(`no such directory: ${quote(path)}`, { remedy })
  if (!info.isDirectory())
    throw new InvalidInputError(`not a directory: ${quote(path)}`, { remedy })
  const kernel = notCopied.find((above) => isBelow(path, above))
  if (kernel !== undefined) throw refused(path, `it is in ${kernel}`)
  if (isBelow(home, path)) throw refused(path, `the home ${home} is in it`)
  if (isBelow(path, home)) throw refused(path, `it is in the home ${home}`)
  return { workdir: path }
}

function refused(path: string, why: string): InvalidInputError {
  return new InvalidInputError(`${quote(path)} cannot be copied for an environment: ${why}`, {
    remedy: 'give a directory of your own, with only what the environment works on',
  })
}

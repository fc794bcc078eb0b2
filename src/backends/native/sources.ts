import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveImage } from '../../images/images.ts'
import { planMask } from '../../linux/mask/mask.ts'
import { isBelow } from '../../linux/mask/outermost.ts'
import type { Source } from '../../model/environment.ts'
import { InvalidInputError, NotFoundError, UnsupportedError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { ValidSource } from '../backend.ts'
import type { Native } from './native.ts'
import { imageStore } from './native-images.ts'

/** Refuses an unusable source before anything is made; gets or builds an image. */
export async function validateSource(
  native: Native,
  source: Source,
  signal?: AbortSignal,
): Promise<ValidSource> {
  switch (source.kind) {
    case 'host':
      return { workdir: '/root' }
    case 'dir':
      await directory(source.path)
      await onRootFileSystem(source.path)
      notHidden(source.path, native.mask)
      return { workdir: source.path }
    case 'rootfs':
      await directory(source.path)
      await hasShell(source.path)
      return { workdir: (await isDirectory(join(source.path, 'root'))) ? '/root' : '/' }
    case 'snapshot':
    case 'attached':
      throw noSuchSource()
    default: {
      const { facts } = await resolveImage(imageStore(native), source, signal)
      return { workdir: facts.workdir, image: facts }
    }
  }
}

/** The engine makes a fork, or attaches, before it asks a backend for a source. */
export function noSuchSource(): UnsupportedError {
  return new UnsupportedError(
    'fork',
    'neither a snapshot nor what runs already is a source of the native backend',
    {
      remedy: 'fork the snapshot, or attach to what runs',
    },
  )
}

async function directory(path: string): Promise<void> {
  // A directory that cannot be looked at cannot be used either.
  const info = await stat(path).catch(() => null)
  const remedy = 'give the path of a directory that exists'
  if (info === null) throw new NotFoundError(`no such directory: ${quote(path)}`, { remedy })
  if (info.isDirectory()) return
  throw new InvalidInputError(`not a directory: ${quote(path)}`, { remedy })
}

/** Environments see the root file system, without anything mounted on it. */
async function onRootFileSystem(path: string): Promise<void> {
  const [here, root] = await Promise.all([stat(path), stat('/')])
  if (here.dev === root.dev) return
  throw new InvalidInputError(`${quote(path)} is not on the same file system as /`, {
    remedy:
      'start from host and copy it in with `forkpoint cp`, or move it to the root file system',
  })
}

/** A workspace hidden by the mask would be missing inside. */
function notHidden(path: string, mask: readonly string[]): void {
  const above = [...planMask(mask).hidden, '/run'].find((hidden) => isBelow(path, hidden))
  if (above === undefined) return
  throw new InvalidInputError(`${quote(path)} is hidden from environments by ${above}`, {
    remedy: 'move it elsewhere, or remove that entry with the setting mask.remove',
  })
}

async function hasShell(path: string): Promise<void> {
  for (const shell of ['bin/sh', 'bin/bash', 'usr/bin/sh', 'usr/bin/bash']) {
    if (await exists(join(path, shell))) return
  }
  throw new InvalidInputError(`${quote(path)} is not a root file system: it has no /bin/sh`, {
    remedy: 'give a directory made by debootstrap or `docker export`, or use dir: for a workspace',
  })
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  )
}

/** Does not follow links: an absolute one inside a rootfs would lead to the host's files. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

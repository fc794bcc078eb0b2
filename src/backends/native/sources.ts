import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source } from '../../model/environment.ts'
import { InvalidInputError, NotFoundError, UnsupportedError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { planMask } from './overlay/mask.ts'
import { isBelow } from './overlay/view/paths.ts'

/** Refuses a source that cannot work, before anything is made; says where shells start in it. */
export async function validateSource(
  source: Source,
  mask: readonly string[],
): Promise<{ workdir: string }> {
  switch (source.kind) {
    case 'host':
      return { workdir: '/root' }
    case 'dir':
      await directory(source.path)
      await onRootFileSystem(source.path)
      notHidden(source.path, mask)
      return { workdir: source.path }
    case 'rootfs':
      await directory(source.path)
      await hasShell(source.path)
      return { workdir: (await isDirectory(join(source.path, 'root'))) ? '/root' : '/' }
    default:
      throw noSuchSource(source)
  }
}

export function noSuchSource({ kind }: Source): UnsupportedError {
  return new UnsupportedError('filesystem', `the native backend cannot start from ${kind}`, {
    remedy: 'use host, dir:PATH or rootfs:PATH',
  })
}

async function directory(path: string): Promise<void> {
  const info = await stat(path).catch(() => null)
  if (info === null) throw new NotFoundError(`no such directory: ${quote(path)}`)
  if (!info.isDirectory()) throw new InvalidInputError(`not a directory: ${quote(path)}`)
}

/** The view is of the root file system; what is mounted on it is not part of it. */
async function onRootFileSystem(path: string): Promise<void> {
  const [here, root] = await Promise.all([stat(path), stat('/')])
  if (here.dev === root.dev) return
  throw new InvalidInputError(`${quote(path)} is on another file system than /`, {
    remedy:
      'start from host and copy it in with `forkpoint cp`, or move it to the root file system',
  })
}

/** A workspace that the mask hides would be missing inside. */
function notHidden(path: string, mask: readonly string[]): void {
  const above = [...planMask(mask).hidden, '/run'].find((hidden) => isBelow(path, hidden))
  if (above === undefined) return
  throw new InvalidInputError(`${quote(path)} is hidden from environments, by ${above}`, {
    remedy: 'move it elsewhere, or take that entry out with the setting mask.remove',
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

/** Links are not followed: an absolute one inside a rootfs would lead to the host's files. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

import { existsSync } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { resolveImage } from '../../images/images.ts'
import { planMask } from '../../linux/mask/mask.ts'
import { isBelow } from '../../linux/mask/outermost.ts'
import { capabilityOf } from '../../model/capabilities.ts'
import type { Source } from '../../model/environment.ts'
import {
  InvalidInputError,
  NotFoundError,
  PrerequisiteError,
  UnsupportedError,
} from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { ValidSource } from '../backend.ts'
import type { Gvisor } from './gvisor.ts'
import { imageStore } from './gvisor-images.ts'
import { isRootless } from './rootless.ts'

/** Refuses an unusable source before anything is made; gets or builds an image. */
export async function validateSource(
  gvisor: Gvisor,
  source: Source,
  signal?: AbortSignal,
): Promise<ValidSource> {
  switch (source.kind) {
    case 'host':
      return { workdir: isRootless() ? homeOf(gvisor) : '/root' }
    case 'dir':
      await requireDirectory(source.path)
      await requireVisible(source.path, gvisor.mask)
      return { workdir: source.path }
    case 'rootfs':
      await requireDirectory(source.path)
      await requireShell(source.path)
      return { workdir: (await kindOf(join(source.path, 'root'))) === 'directory' ? '/root' : '/' }
    case 'image':
    case 'dockerfile':
    case 'oci':
    case 'archive':
    case 'container': {
      requireRootFor(source)
      const { facts } = await resolveImage(imageStore(gvisor), source, signal)
      return { workdir: facts.workdir, image: facts }
    }
    default:
      throw noSuchSource(source)
  }
}

/** Where shells of an ordinary user start: at home, if that is visible. */
function homeOf({ mask }: Gvisor): string {
  const { HOME = '' } = process.env
  const hidden = [...planMask(mask).hidden, '/run', '/tmp', '/dev']
  const isVisible = isAbsolute(HOME) && existsSync(HOME) && !hidden.some((at) => isBelow(HOME, at))
  return isVisible ? HOME : '/'
}

/** The files of an image belong to many users, and an ordinary user can give files to nobody. */
function requireRootFor({ kind }: Source): void {
  if (!isRootless()) return
  throw new PrerequisiteError(`the gvisor backend needs root to start from ${kind}`, {
    remedy: 'run it with sudo, or export the files to a directory and use rootfs:PATH',
  })
}

export function noSuchSource({ kind }: Source): UnsupportedError {
  return new UnsupportedError(
    capabilityOf({ kind }),
    `the gvisor backend cannot start from ${kind}`,
    {
      remedy:
        'use host, dir:PATH, rootfs:PATH, image:REF, dockerfile:DIR, oci:DIR, archive:FILE or container:NAME',
    },
  )
}

async function requireDirectory(path: string): Promise<void> {
  const kind = await kindOf(path)
  if (kind === 'directory') return
  const remedy = 'give the path of a directory that exists'
  throw kind === 'missing'
    ? new NotFoundError(`no such directory: ${quote(path)}`, { remedy })
    : new InvalidInputError(`not a directory: ${quote(path)}`, { remedy })
}

/** Environments see the root file system, without anything mounted on it and without what is hidden. */
async function requireVisible(path: string, mask: readonly string[]): Promise<void> {
  const [here, root] = await Promise.all([stat(path), stat('/')])
  if (here.dev !== root.dev) {
    throw new InvalidInputError(`${quote(path)} is not on the same file system as /`, {
      remedy:
        'start from host and copy it in with `forkpoint cp`, or move it to the root file system',
    })
  }
  const notThere = isRootless() ? ['/run', '/tmp'] : ['/run']
  const above = [...planMask(mask).hidden, ...notThere].find((hidden) => isBelow(path, hidden))
  if (above === undefined) return
  throw new InvalidInputError(`${quote(path)} is hidden from environments by ${above}`, {
    remedy: 'move it elsewhere, or remove that entry with the setting mask.remove',
  })
}

async function requireShell(path: string): Promise<void> {
  for (const shell of ['bin/sh', 'bin/bash', 'usr/bin/sh', 'usr/bin/bash']) {
    if ((await kindOf(join(path, shell))) !== 'missing') return
  }
  throw new InvalidInputError(`${quote(path)} is not a root file system: it has no /bin/sh`, {
    remedy: 'give a directory made by debootstrap or `docker export`, or use dir: for a workspace',
  })
}

/** Does not follow links: an absolute one inside a rootfs would lead to the host's files. */
async function kindOf(path: string): Promise<'directory' | 'other' | 'missing'> {
  return await lstat(path).then(
    (info) => (info.isDirectory() ? 'directory' : 'other'),
    () => 'missing',
  )
}

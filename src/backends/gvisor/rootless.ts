// Without root, runsc works in a user namespace. There, OverlayFS cannot use the host's root: the kernel does
// not show what is below other mounts to somebody who could not unmount them. So its directories are bound one by one.
import { accessSync, constants, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { planMask } from '../../linux/mask/mask.ts'
import type { Root } from './instance.ts'

export function isRootless(): boolean {
  return process.geteuid?.() !== 0
}

type BoundRoot = Extract<Root, { kind: 'bound' }>

/** Of the kernel, or of this boot: environments get their own, or none. */
const notBound = new Set(['proc', 'sys', 'dev', 'run', 'tmp', 'lost+found'])

/** The host's files, as far as this user can read them and the mask allows. */
export function boundRoot(mask: readonly string[]): BoundRoot {
  const { hidden, scrubbed } = planMask(mask)
  const secret = [...hidden, ...scrubbed.map(({ path }) => path)]
  const names = readdirSync('/').filter(
    (name) => !notBound.has(name) && !secret.includes(`/${name}`),
  )
  const kinds = names.map((name) => ({ name, info: lstatSync(join('/', name)) }))
  return {
    kind: 'bound',
    directories: kinds
      .filter(({ name, info }) => info.isDirectory() && canList(join('/', name)))
      .map(({ name }) => name),
    links: kinds
      .filter(({ info }) => info.isSymbolicLink())
      .map(({ name }) => ({ name, target: readlinkSync(join('/', name)) })),
    hidden: secret,
  }
}

function canList(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
    return true
  } catch {
    // Then it cannot be read inside either.
    return false
  }
}

/** The words of a shell that bind such a root at `at`. Words with a meaning to the shell are given as they are. */
export function bindSteps({ directories, links, hidden }: BoundRoot, at: string): Step[] {
  return [
    { words: ['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', at] },
    { words: ['mkdir', '-m', '1777', '--', join(at, 'tmp')] },
    ...links.map(({ name, target }) => ({ words: ['ln', '-s', '--', target, join(at, name)] })),
    ...directories.flatMap((name) => [
      { words: ['mkdir', '--', join(at, name)] },
      { words: ['mount', '--rbind', '--', join('/', name), join(at, name)] },
    ]),
    ...hidden.map((path) => ({ hides: join(at, path) })),
  ]
}

export type Step = { readonly words: readonly string[] } | { readonly hides: string }

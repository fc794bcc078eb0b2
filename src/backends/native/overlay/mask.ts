import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { runCell } from '../../../linux/run-cell.ts'
import { rawFiles } from './raw-files.ts'
import { outermost } from './view/paths.ts'

/**
 * Hides secrets in `host` and `dir` environments: one layer of OverlayFS whiteouts between the
 * host's root and the environment. A masked path does not exist inside. Password files are replaced
 * by copies without the hashes, because login, su and sudo need the files.
 */
export interface MaskPlan {
  /** directories above the masked paths, outermost first, with the host's mode and owner */
  readonly parents: readonly { path: string; mode: number; uid: number; gid: number }[]
  /** paths that vanish, none below another */
  readonly hidden: readonly string[]
  /** password files and what they hold instead */
  readonly scrubbed: readonly { path: string; text: string }[]
}

const passwordFiles = new Set(['/etc/shadow', '/etc/gshadow'])

/**
 * Patterns with a `*` hide what matches now; plain paths are hidden whether they exist or not. Other
 * stores, and files that hold disks or memory as they are, are always hidden.
 */
export function planMask(patterns: readonly string[]): MaskPlan {
  const paths = [...patterns.flatMap(expand), ...rawFiles()]
  const reachable = [...new Set(paths.flatMap(realPaths))].sort()
  const secret = outermost(reachable.filter((path) => !passwordFiles.has(path)))
  const scrubbed = reachable.filter((path) => passwordFiles.has(path)).flatMap(scrub)
  const masked = [...secret, ...scrubbed.map(({ path }) => path)]
  const parents = parentsOf(masked).flatMap(asOnHost)
  const there = new Set(['/', ...parents.map(({ path }) => path)])
  return { parents, hidden: secret.filter((path) => there.has(dirname(path))), scrubbed }
}

/** What a pattern stands for; a `*` stays within one path component. */
function expand(pattern: string): string[] {
  let found = ['']
  for (const part of pattern.split('/').filter(Boolean)) {
    found = part.includes('*')
      ? found.flatMap((dir) => matching(dir, part))
      : found.map((dir) => `${dir}/${part}`)
  }
  return found
}

function matching(dir: string, part: string): string[] {
  const shape = new RegExp(`^${part.split('*').map(RegExp.escape).join('.*')}$`)
  try {
    return readdirSync(dir || '/')
      .filter((name) => shape.test(name))
      .map((name) => `${dir}/${name}`)
  } catch {
    return []
  }
}

function parentsOf(paths: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of paths) {
    for (let dir = dirname(path); dir !== '/'; dir = dirname(dir)) found.add(dir)
  }
  return [...found].sort()
}

/** Nothing if it was removed a moment ago. */
function asOnHost(path: string): MaskPlan['parents'][number][] {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found ? [{ path, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid }] : []
}

/**
 * Where a path really is: links on the way to it are followed, and if it is itself a link, what it
 * points to is a secret too. A path below a directory that the host does not have needs no hiding,
 * and making its parents in the layer would make them appear inside.
 */
function realPaths(path: string): string[] {
  try {
    const place = join(realpathSync(dirname(path)), basename(path))
    const link = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()
    return link ? [place, ...realTarget(place)] : [place]
  } catch {
    return []
  }
}

function realTarget(link: string): string[] {
  try {
    return [realpathSync(link)]
  } catch {
    return []
  }
}

function scrub(path: string): { path: string; text: string }[] {
  try {
    return [{ path, text: scrubPasswords(readFileSync(path, 'utf8')) }]
  } catch {
    return []
  }
}

/** The lines of a password file with their hashes taken out: no password matches `*`. */
export function scrubPasswords(text: string): string {
  return text.replace(/^([^:\n]+):[^:\n]*/gm, '$1:*')
}

export async function writeMask(plan: MaskPlan, layer: string): Promise<void> {
  for (const { path, mode, uid, gid } of plan.parents) {
    await mkdir(join(layer, path))
    await chmod(join(layer, path), mode)
    await chown(join(layer, path), uid, gid)
  }
  for (const { path, text } of plan.scrubbed) {
    await writeFile(join(layer, path), text, { mode: 0o640 })
  }
  if (plan.hidden.length > 0) {
    await runCell('hiding secrets', ['whiteouts', ...plan.hidden.map((path) => join(layer, path))])
  }
  // /run holds the host's sockets and pid files: an environment starts with its own.
  await mkdir(join(layer, 'run'), { recursive: true })
  await runCell('hiding /run', ['opaque', join(layer, 'run')])
}

import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Tools } from '../tools.ts'
import { outermost } from './outermost.ts'
import { rawFiles } from './raw-files.ts'

/**
 * Hides secrets in `host` and `dir` environments with a layer of OverlayFS whiteouts over the host's
 * root. A masked path does not exist inside. Password files are replaced by copies without hashes,
 * because login, su and sudo need the files.
 */
export interface MaskPlan {
  /** directories above the masked paths, outermost first, with the host's mode and owner */
  readonly parents: readonly { path: string; mode: number; uid: number; gid: number }[]
  /** hidden paths, none below another */
  readonly hidden: readonly string[]
  /** password files with their new contents */
  readonly scrubbed: readonly { path: string; text: string }[]
}

const passwordFiles = new Set(['/etc/shadow', '/etc/gshadow'])

/**
 * Patterns with a `*` hide what matches now; plain paths are hidden whether they exist or not. The stores
 * of other homes, and files with raw disks or memory, are always hidden.
 */
export function planMask(patterns: readonly string[]): MaskPlan {
  const paths = [...patterns.flatMap(expand), ...rawFiles()]
  const reachable = [...new Set(paths.flatMap(realPaths))].sort()
  const secret = outermost(reachable.filter((path) => !passwordFiles.has(path)))
  const scrubbed = reachable.filter((path) => passwordFiles.has(path)).flatMap(scrub)
  const masked = [...secret, ...scrubbed.map(({ path }) => path)]
  const parents = parentsOf(masked).flatMap(asOnHost)
  const existing = new Set(['/', ...parents.map(({ path }) => path)])
  return { parents, hidden: secret.filter((path) => existing.has(dirname(path))), scrubbed }
}

/** The paths that a pattern stands for; a `*` stays within one path component. */
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
    // If the directory cannot be read, nothing below it can be read inside either.
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

/** An ordinary user cannot reach everything, and environments of that user cannot either. */
function canReach(path: string): boolean {
  try {
    lstatSync(path, { throwIfNoEntry: false })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return false
    throw error
  }
}

/** Empty if it was removed a moment ago. */
function asOnHost(path: string): MaskPlan['parents'][number][] {
  const found = canReach(path) ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  return found ? [{ path, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid }] : []
}

/**
 * Where a path really is: follows the links on the way to it. If the path itself is a link, its target is
 * a secret, too. If the directory does not exist on the host, nothing needs hiding, and making parents in
 * the layer would make them appear inside.
 */
function realPaths(path: string): string[] {
  try {
    const place = join(realpathSync(dirname(path)), basename(path))
    const link = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()
    return link ? [place, ...realTarget(place)] : [place]
  } catch {
    // The directory does not exist.
    return []
  }
}

function realTarget(link: string): string[] {
  try {
    return [realpathSync(link)]
  } catch {
    // The link is dangling.
    return []
  }
}

function scrub(path: string): { path: string; text: string }[] {
  try {
    return [{ path, text: scrubPasswords(readFileSync(path, 'utf8')) }]
  } catch {
    // The file is gone, so there is nothing to hide.
    return []
  }
}

/** The lines of a password file without their hashes: no password matches `*`. */
export function scrubPasswords(text: string): string {
  return text.replace(/^([^:\n]+):[^:\n]*/gm, '$1:*')
}

export async function writeMask(tools: Tools, plan: MaskPlan, layer: string): Promise<void> {
  for (const { path, mode, uid, gid } of plan.parents) {
    await mkdir(join(layer, path))
    await chmod(join(layer, path), mode)
    await chown(join(layer, path), uid, gid)
  }
  for (const { path, text } of plan.scrubbed) {
    await writeFile(join(layer, path), text, { mode: 0o640 })
  }
  if (plan.hidden.length > 0) {
    await tools.runCell('hiding secrets', [
      'whiteouts',
      ...plan.hidden.map((path) => join(layer, path)),
    ])
  }
  // /run holds the host's sockets and pid files; an environment starts with its own.
  await mkdir(join(layer, 'run'), { recursive: true })
  await tools.runCell('hiding /run', ['opaque', join(layer, 'run')])
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { NotFoundError } from '../../model/errors.ts'
import { type IgnoredFiles, readIgnored } from '../../model/files/dockerignore.ts'
import { quote } from '../../model/text/quote.ts'
import { digestOf } from '../cache.ts'

/** What a build from a Dockerfile depends on in its directory. */
export interface BuildContext {
  readonly dir: string
  /** the Dockerfile's own path */
  readonly file: string
  /** changes with the times, sizes and inodes of files: quick to find, but also another for a copy */
  readonly quickKey: string
  /** false: a file changed so recently that it could change again without another time */
  readonly isSettled: boolean
  /** changes with names, modes and contents */
  contentKey(): Promise<string>
}

interface ContextFile {
  readonly path: string
  readonly mode: number
  readonly stamp: string
  readonly changedMs: number
}

/** Longer than the kernel's clock for files takes from tick to tick. */
const settledMs = 100

export async function readContext(dir: string): Promise<BuildContext> {
  const name = await dockerfileIn(dir)
  // Without the file, nothing is ignored.
  const text = await readFile(join(dir, '.dockerignore'), 'utf8').catch(() => '')
  const files = await listFiles(dir, readIgnored(text), [name, '.dockerignore'])
  const newest = Math.max(...files.map(({ changedMs }) => changedMs))
  return {
    dir,
    file: join(dir, name),
    quickKey: digestOf(JSON.stringify([dir, name, files.map(({ path, stamp }) => [path, stamp])])),
    isSettled: newest < Date.now() - settledMs,
    contentKey: () => contentKey(dir, name, files),
  }
}

async function dockerfileIn(dir: string): Promise<string> {
  for (const name of ['Dockerfile', 'Containerfile']) {
    const info = await lstat(join(dir, name)).catch(() => null)
    if (info?.isFile() || info?.isSymbolicLink()) return name
  }
  throw new NotFoundError(`no Dockerfile in ${quote(dir)}`, {
    remedy: 'give the directory that has the Dockerfile',
  })
}

async function listFiles(
  dir: string,
  ignored: IgnoredFiles,
  always: readonly string[],
): Promise<ContextFile[]> {
  const found: ContextFile[] = []
  const visit = async (below: string): Promise<void> => {
    for (const name of (await readdir(join(dir, below))).sort()) {
      const path = below === '' ? name : `${below}/${name}`
      const isIgnored = ignored.ignores(path) && !always.includes(path)
      if (isIgnored && !ignored.hasExceptions) continue
      const info = await lstat(join(dir, path), { bigint: true })
      if (!isIgnored) found.push(fileOf(path, info))
      if (info.isDirectory()) await visit(path)
    }
  }
  await visit('')
  return found
}

function fileOf(path: string, info: Awaited<ReturnType<typeof lstatBig>>): ContextFile {
  const { mode, ino, size, mtimeNs, ctimeNs } = info
  return {
    path,
    mode: Number(mode),
    // The size and times of a directory change with files that may be ignored.
    stamp: info.isDirectory() ? String(mode) : [mode, ino, size, mtimeNs, ctimeNs].join(' '),
    changedMs: info.isDirectory() ? 0 : Number(ctimeNs / 1_000_000n),
  }
}

const lstatBig = (path: string) => lstat(path, { bigint: true })

async function contentKey(
  dir: string,
  name: string,
  files: readonly ContextFile[],
): Promise<string> {
  const hash = createHash('sha256').update(`${name}\0`)
  for (const { path, mode } of files) {
    hash.update(`${path}\0${mode.toString(8)}\0${await contentOf(join(dir, path), mode)}\0`)
  }
  return hash.digest('hex')
}

const typeBits = 0o170000
const regularFile = 0o100000
const symbolicLink = 0o120000

async function contentOf(path: string, mode: number): Promise<string> {
  if ((mode & typeBits) === symbolicLink) return await readlink(path)
  if ((mode & typeBits) !== regularFile) return ''
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

import type { Readable } from 'node:stream'
import { ResourceError } from '../../../model/errors.ts'
import type { InsideEntry } from '../../../model/files/file-change.ts'
import { quote } from '../../../model/text/quote.ts'
import { readArchive } from '../archive/read-archive.ts'
import { GitIgnores } from './git-ignores.ts'

const name = '.gitignore'
const mostBytes = 1024 ** 2

/** Reads the .gitignore files among the entries of `root`, from an archive of them. */
export async function readGitIgnores(
  root: string,
  entries: readonly InsideEntry[],
  archive: (paths: readonly string[]) => Promise<Readable>,
): Promise<GitIgnores> {
  const files = entries.filter(({ path, type }) => type === 'file' && path.endsWith(`/${name}`))
  const large = files.find(({ sizeBytes }) => sizeBytes > mostBytes)
  if (large !== undefined) throw tooLarge(large.path)
  const texts = new Map<string, string>()
  const of = (path: string) => texts.get(directoryOf(path, root)) ?? ''
  if (files.length === 0) return new GitIgnores(texts)
  await readArchive(await archive(files.map(({ path }) => path)), async (entry) => {
    if (entry.type === 'link') texts.set(directoryOf(entry.path, root), of(entry.first))
    if (entry.type !== 'file') return
    const parts: Buffer[] = []
    let bytes = 0
    for await (const { bytes: part } of entry.content) {
      bytes += part.length
      if (bytes > mostBytes) throw tooLarge(entry.path)
      parts.push(part)
    }
    texts.set(directoryOf(entry.path, root), Buffer.concat(parts).toString('utf8'))
  })
  return new GitIgnores(texts)
}

/** Of a path in the archive, which keeps its whole path; relative to `root`. */
function directoryOf(path: string, root: string): string {
  const prefix = root === '/' ? '/' : `${root}/`
  return `/${path}`.slice(prefix.length, -name.length).replace(/\/$/, '')
}

function tooLarge(path: string): ResourceError {
  return new ResourceError(`${quote(path)} is larger than ${mostBytes >> 20} MiB`, {
    remedy: 'make it smaller inside, or name what to leave out yourself, with --exclude',
  })
}

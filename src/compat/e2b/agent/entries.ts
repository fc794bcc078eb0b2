import { posix } from 'node:path'
import type { FileInfo, FileType } from '../../../agent/files/files.ts'
import type { Environment } from '../../../api/handles/environment.ts'
import { ResourceError } from '../../../model/errors.ts'
import { metadataIn, shownMetadata } from './metadata.ts'
import { groupsInside, usersInside } from './users.ts'

/** How the clients see a file, given its absolute path. */
export type EntryOf = (path: string, info: FileInfo) => object

const types: Readonly<Record<FileType, string>> = {
  file: 'FILE_TYPE_FILE',
  directory: 'FILE_TYPE_DIRECTORY',
  symlink: 'FILE_TYPE_SYMLINK',
  other: 'FILE_TYPE_UNSPECIFIED',
}

const letters: Readonly<Record<FileType, string>> = {
  file: '-',
  directory: 'd',
  symlink: 'L',
  other: '?',
}

/** With the names of owners and groups, as they are now. */
export async function entriesOf(environment: Environment): Promise<EntryOf> {
  const [users, groups] = await Promise.all([usersInside(environment), groupsInside(environment)])
  const names = new Map(users.map(({ uid, name }) => [uid, name]))
  return (path, info) => ({
    name: posix.basename(path),
    type: types[info.type],
    path,
    size: String(info.sizeBytes),
    mode: info.mode,
    permissions: `${letters[info.type]}${permissionText(info.mode)}`,
    owner: names.get(info.uid) ?? String(info.uid),
    group: groups.get(info.gid) ?? String(info.gid),
    modifiedTime: new Date(Number(info.mtimeNs / 1_000_000n)).toISOString(),
    ...(info.target !== null && { symlinkTarget: info.target }),
    ...shownMetadata(metadataIn(info.xattrs)),
  })
}

/** As `ls` writes them. */
export function permissionText(mode: number): string {
  const bits = [...'rwxrwxrwx']
  return bits.map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('')
}

const mostEntries = 100_000

/** Everything below a directory, down to `depth` levels; links are not followed. */
export async function* walked(
  environment: Environment,
  top: string,
  depth: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly path: string; readonly info: FileInfo }, void, undefined> {
  const open = [{ dir: top, level: 1 }]
  let count = 0
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { dir, level } = next
    for (const { name, ...info } of await environment.files.list(dir, { signal, xattrs: true })) {
      count += 1
      if (count > mostEntries) throw tooMany(top)
      const path = posix.join(dir, name)
      yield { path, info }
      if (info.type === 'directory' && level < depth) open.push({ dir: path, level: level + 1 })
    }
  }
}

function tooMany(path: string): ResourceError {
  return new ResourceError(`${path} has more than ${mostEntries} entries`, {
    remedy: 'list it with a smaller depth, or run `find` inside',
  })
}

// Changes as an engine would list them, without one.
import { createHash } from 'node:crypto'
import type { ChangeSource } from '../../src/api/host/apply/source.ts'
import type { ChangedFile, FileChange } from '../../src/model/files/file-change.ts'
import { archiveOf, type HandMade, streamed } from './hand-made-tar.ts'

export const workdir = '/w'

export function fileEntry(content: string, mode = 0o644): ChangedFile {
  return { type: 'file', mode, uid: 0, gid: 0, sizeBytes: content.length, mtimeMs: 0 }
}

export function linkEntry(target: string): ChangedFile {
  return { ...fileEntry(target, 0o777), type: 'symlink', target }
}

export function added(path: string, after: ChangedFile): FileChange {
  return { path: `${workdir}/${path}`, kind: 'added', before: null, after, sizeDelta: 0 }
}

/** Contents by path below the working directory. */
type Contents = Readonly<Record<string, string>>

/** A source that lists and sends whatever the test wants. */
export function sourceOf(
  changes: readonly FileChange[],
  archive: readonly HandMade[] = [],
  contents: { readonly before?: Contents; readonly after?: Contents } = {},
): ChangeSource {
  return {
    changes: async () => ({ workdir, changes, leftOut: [] }),
    digests: async ({ before, after }) => ({
      before: before.map((path) => digestIn(contents.before, path)),
      after: after.map((path) => digestIn(contents.after, path)),
    }),
    archive: async () => streamed(archiveOf(...archive)),
  }
}

function digestIn(contents: Contents | undefined, path: string): string | null {
  const content = contents?.[path.slice(workdir.length + 1)]
  return content === undefined ? null : createHash('sha256').update(content).digest('hex')
}

import ignore from 'ignore'
import type { FileKind } from '../../../model/files/file-change.ts'
import type { GitIgnores } from './git-ignores.ts'

/** What to leave out of a copy. Paths are relative to the directory that is copied. */
export interface Selection {
  /** patterns as in .gitignore */
  readonly exclude?: readonly string[] | undefined
  /** the .gitignore files of the directory; null: nobody asked for them */
  readonly ignores: GitIgnores | null
}

export type Selects = (path: string, type: FileKind) => boolean

/** Whether an entry is copied. Whatever is in a directory that is left out is left out too. */
export function selecting({ exclude = [], ignores }: Selection): Selects {
  const patterns = ignore(matching).add([...exclude])
  return (path, type) => {
    if (path === '') return true
    return !patterns.ignores(asPath(path, type)) && ignores?.ignores(path, type) !== true
  }
}

/** Names come from inside, and any name is one: none is taken for a relative path. Git's are case-sensitive. */
export const matching = { allowRelativePaths: true, ignorecase: false }

/** As the patterns expect it: a directory ends with a slash. */
export function asPath(path: string, type: FileKind): string {
  return type === 'directory' ? `${path}/` : path
}

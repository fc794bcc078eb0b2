import type { ChangedFile, ChangeKind } from '../../../../../model/files/file-change.ts'

/** The kind of a change between two entries; `content` says whether regular files are equal. */
export function classify(
  before: ChangedFile | null,
  after: ChangedFile | null,
  content: 'same' | 'different',
): Exclude<ChangeKind, 'renamed'> | null {
  if (before === null) return after === null ? null : 'added'
  if (after === null) return 'deleted'
  if (before.type !== after.type) return 'type'
  if (!isSameContent(before, after, content)) return 'modified'
  // Nobody can set the mode of a symlink.
  if (before.mode !== after.mode && before.type !== 'symlink') return 'mode'
  if (before.uid !== after.uid || before.gid !== after.gid) return 'owner'
  return null
}

function isSameContent(
  before: ChangedFile,
  after: ChangedFile,
  content: 'same' | 'different',
): boolean {
  if (before.type === 'file') return content === 'same'
  return before.target === after.target && before.device === after.device
}

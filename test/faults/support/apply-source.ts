import type { ChangeSource } from '../../../src/api/host/apply/source.ts'
import type { FileChange } from '../../../src/model/files/file-change.ts'
import { added, fileEntry, sourceOf, workdir } from '../../support/hand-made-changes.ts'

const directory = { ...fileEntry(''), type: 'directory', mode: 0o755 } as const

/** Of a directory with the files `kept`, `replaced` and `removed`, each of its name as content. */
export function applySource(): ChangeSource {
  const change = (path: string, kind: FileChange['kind']): FileChange => ({
    path: `${workdir}/${path}`,
    kind,
    before: fileEntry(path),
    after: kind === 'deleted' ? null : fileEntry('new'),
    sizeDelta: 0,
  })
  const changes = [
    added('d', directory),
    added('d/f', fileEntry('deep')),
    change('removed', 'deleted'),
    change('replaced', 'modified'),
  ]
  const archive = [
    { name: 'w/d/f', content: 'deep' },
    { name: 'w/replaced', content: 'new' },
  ]
  return sourceOf(changes, archive, {
    before: { removed: 'removed', replaced: 'replaced' },
    after: { 'd/f': 'deep', replaced: 'new' },
  })
}

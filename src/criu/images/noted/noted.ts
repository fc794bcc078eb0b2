import { BackendError } from '../../../model/errors.ts'
import { isComplete } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import type { Noted } from '../noted.ts'
import { socketNames } from './find-sockets.ts'
import { type Note, notesOf } from './notes.ts'
import { withReadablePipes } from './pipes.ts'
import { withSocketNames } from './socket-names.ts'

/**
 * Adds what CRIU could not dump as it is. `upper` is the directory with the environment's changed files,
 * and `noted` what was noted beside the dump.
 */
export function withNoted(images: DumpImages, upper: string, noted: Noted): DumpImages {
  const notes = notesOf(images)
  if (notes.length === 0) return images
  requireHidden(notes, noted)
  const sockets = notes.filter((note) => note.kind === 'socket')
  const files = withSocketNames(images.files, socketNames(sockets, upper))
  const hasPipes = notes.some(({ kind }) => kind === 'pipes')
  return images.with({ 'files.img': hasPipes ? withReadablePipes(files) : files })
}

/** What CRIU did not see must have been noted by somebody else. */
function requireHidden(notes: readonly Note[], noted: Noted): void {
  if (isComplete(noted.attributes) || notes.every(({ kind }) => kind !== 'hidden')) return
  throw new BackendError('what waits in pipes, sockets and queues inside was not noted', {
    remedy: 'take the snapshot again; the log says why',
  })
}

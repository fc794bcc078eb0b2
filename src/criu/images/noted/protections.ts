import type { Attribute } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import { notesOf } from './notes.ts'

/** What processes have given up for good, for copies to give it up before they run. */
export function protectionsIn(images: DumpImages): Attribute[] {
  return notesOf(images).flatMap((note) => {
    if (note.kind !== 'denial' && note.kind !== 'sealed') return []
    const of = { process: note.process, number: note.process }
    return note.kind === 'denial'
      ? { word: 'write-or-execute', ...of, value: String(note.flags) }
      : { word: 'sealed', ...of, value: note.area }
  })
}

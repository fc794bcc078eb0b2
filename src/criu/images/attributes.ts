import { BackendError } from '../../model/errors.ts'
import type { DumpImages } from './dump-images.ts'

/** Something of a process or socket that CRIU does not keep. See native/cell/attributes/. */
export interface Attribute {
  readonly word: string
  /** number of the process inside */
  readonly process: number
  /** number of a thread inside, or of a descriptor of the process */
  readonly number: number
  readonly value: string
}

const line = /^([a-z-]+) (\d+) (\d+) ([\x20-\x7e]*)$/

/** One line, as `cell waits` prints it. */
export function parseAttribute(text: string): Attribute {
  const [, word, process, number, value] = line.exec(text) ?? []
  if (word === undefined || value === undefined) {
    throw new BackendError(`a note of an attribute is malformed: ${JSON.stringify(text)}`, {
      remedy: 'take the snapshot again',
    })
  }
  return { word, process: Number(process), number: Number(number), value }
}

/** The image of our own that lists what to put back before a copy runs. */
export const attributesImage = 'attributes'

/** Nobody puts these back: they are in other images, or in the record of the snapshot. */
const notPutBack = new Set([
  'future-lost',
  'lost',
  'noted',
  'notify-lost',
  'semaphore',
  'ticks',
  'unasked-stop',
  'undo-lost',
  'unread-lost',
])

/** Whether all attributes were noted, or nobody could. */
export function isComplete(attributes: readonly Attribute[]): boolean {
  return attributes.some(({ word }) => word === 'noted')
}

/** The images of processes that get these attributes back; the same images if there are none. */
export function withAttributes(images: DumpImages, attributes: readonly Attribute[]): DumpImages {
  const lines = attributes
    .filter(({ word }) => !notPutBack.has(word))
    .map(({ word, process, number, value }) => `${word} ${process} ${number} ${value}\n`)
  if (lines.length === 0) return images
  return images.with({ [attributesImage]: Buffer.from(lines.join('')) })
}

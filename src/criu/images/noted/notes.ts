import type { DumpImages } from '../dump-images.ts'

/** What native/preload/objects notes during a dump, beside the images. */
const notesImage = 'noted.img'

/** A Unix socket that has another name than the one it was bound to, or more than one. */
export interface NotedSocket {
  readonly kind: 'socket'
  /** its inode, as in files.img */
  readonly ino: number
  /** where it is; null: it has lost the name that it was last known by, and has others */
  readonly path: string | null
  /** how many names it has */
  readonly links: number
  /** inode of these names */
  readonly file: number
}

/** There are more pipes than CRIU can dump. */
export interface NotedPipes {
  readonly kind: 'pipes'
}

/** CRIU did not see something that `cell waits` has noted. */
export interface NotedHidden {
  readonly kind: 'hidden'
}

/** A process that gave up memory which can be both written and executed: PR_SET_MDWE, with its flags. */
export interface NotedDenial {
  readonly kind: 'denial'
  readonly process: number
  readonly flags: number
}

/** Memory of a process that it has sealed: mseal. */
export interface NotedSeal {
  readonly kind: 'sealed'
  readonly process: number
  /** addresses, in hexadecimal: START-END */
  readonly area: string
}

export type Note = NotedSocket | NotedPipes | NotedHidden | NotedDenial | NotedSeal

/** Empty if CRIU met no such object. Paths have one character per byte. */
export function notesOf(images: DumpImages): Note[] {
  if (!images.has(notesImage)) return []
  return images
    .bytes(notesImage)
    .toString('latin1')
    .split('\0')
    .flatMap((line) => noteIn(line) ?? [])
}

function noteIn(line: string): Note | null {
  if (line === 'pipes' || line === 'hidden') return { kind: line }
  const socket = /^socket (\d+) (here|deleted) (\d+) (\d+) (.*)$/s.exec(line)
  if (!socket) return protectionIn(line)
  const [, ino, state, links, file, path = ''] = socket
  const known = state === 'here' ? path : null
  return { kind: 'socket', ino: Number(ino), path: known, links: Number(links), file: Number(file) }
}

function protectionIn(line: string): Note | null {
  const denial = /^denial ([1-9]\d*) (\d+)$/.exec(line)
  if (denial) return { kind: 'denial', process: Number(denial[1]), flags: Number(denial[2]) }
  const [, process, area] = /^sealed ([1-9]\d*) ([0-9a-f]+-[0-9a-f]+)$/.exec(line) ?? []
  return area === undefined ? null : { kind: 'sealed', process: Number(process), area }
}

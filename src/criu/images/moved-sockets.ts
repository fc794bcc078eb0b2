import type { DumpImages } from './dump-images.ts'
import { fileEntry, inetSkEntry } from './format/criu-messages.ts'
import { encodeImage, mapEntries } from './format/image-file.ts'
import { change, type Message, read } from './format/schema.ts'
import type { ReplacedImage } from './replaced-images.ts'

type InetSocket = Message<typeof inetSkEntry>

const AF_INET = 2

/**
 * files.img for a life whose IPv4 address is another than that of the one that was captured: sockets that are bound
 * to the old address get the new one. Nothing if there are none.
 */
export function movedSockets({ files }: DumpImages, address: string): ReplacedImage[] {
  const word = wordOf(address)
  let hasMoved = false
  const moved = mapEntries(files, (entry) => {
    const { isk } = read(fileEntry, entry)
    if (!isk) return entry
    const socket = read(inetSkEntry, isk)
    const own = ownWord(socket)
    if (own === null || own === word) return entry
    hasMoved = true
    return change(fileEntry, entry, { isk: change(inetSkEntry, isk, from(socket, own, word)) })
  })
  return hasMoved ? [{ name: 'files.img', content: encodeImage(moved) }] : []
}

/** Also the other end, if that is the same environment. */
function from({ srcAddr, dstAddr }: InetSocket, own: number, word: number): Partial<InetSocket> {
  const moved = (words: readonly number[]) =>
    words.map((each, at) => (at === words.length - 1 && each === own ? word : each))
  return { srcAddr: moved(srcAddr), dstAddr: moved(dstAddr) }
}

/** The address that it is bound to, as the last word, if it is that of the environment; otherwise null. */
function ownWord({ family, srcAddr }: InetSocket): number | null {
  const [a, b, c] = srcAddr
  const isMapped = a === 0 && b === 0 && (c ?? 0) >>> 0 === 0xffff_0000
  const word = srcAddr.at(-1)
  if (word === undefined || (family !== AF_INET && !isMapped)) return null
  const first = word & 0xff
  const isOther = word === 0 || first === 127 || first >= 224
  return isOther ? null : word
}

/** As CRIU writes it: in network order, read in host order. */
function wordOf(address: string): number {
  return Buffer.from(address.split('.').map(Number)).readUInt32LE()
}

import type { DumpImages } from '../dump-images.ts'
import { tcpStreamEntry } from '../format/criu-messages.ts'
import { firstEntry } from '../format/image-file.ts'
import { change, type Message, read } from '../format/schema.ts'

/** One end of a connection, as tcp-stream-INODE.img has it: a message, and the bytes of both queues. */
export interface Stream {
  readonly facts: Message<typeof tcpStreamEntry>
  /** where the bytes are that the program has not read yet */
  readonly arrivedAt: number
  /** bytes that the other end has not acknowledged, sent or not */
  readonly queued: Buffer
}

export function streamImage(inode: number): string {
  return `tcp-stream-${inode.toString(16)}.img`
}

/** Whether there are TCP connections. Their names alone tell, so images without any lose no time. */
export function hasConnections(images: DumpImages): boolean {
  return images.names.some((name) => name.startsWith('tcp-stream-'))
}

export function readStream(bytes: Buffer): Stream {
  const entry = firstEntry(bytes)
  const facts = read(tcpStreamEntry, entry)
  const arrivedAt = endOf(bytes, entry)
  const queuedAt = arrivedAt + facts.inqLen
  return { facts, arrivedAt, queued: bytes.subarray(queuedAt, queuedAt + facts.outqLen) }
}

/** The same end with another queue to send, none of which was sent. */
export function changeQueue(bytes: Buffer, queued: Buffer, sndWnd: number): Buffer {
  const { arrivedAt, facts } = readStream(bytes)
  const lengths = { outqLen: queued.length, unsqLen: queued.length, sndWnd }
  const arrived = bytes.subarray(arrivedAt, arrivedAt + facts.inqLen)
  return Buffer.concat([changedHead(bytes, lengths), arrived, queued])
}

const mostWindow = 0xffff

/**
 * An end that has heard the last of the other one. To tell it so, CRIU sends it a packet with the window that this end
 * has for the other, which is not needed any more, cut to 16 bits. It must be the window of the other end: with none, what
 * is sent next would wait for seconds.
 */
export function withWindowOfOther(bytes: Buffer): Buffer {
  const { arrivedAt, facts } = readStream(bytes)
  const rcvWnd = Math.min((facts.sndWnd ?? 0) >>> facts.sndWscale, mostWindow)
  return Buffer.concat([changedHead(bytes, { rcvWnd }), bytes.subarray(arrivedAt)])
}

/** Everything before the bytes of the queues. */
function changedHead(bytes: Buffer, changes: Partial<Stream['facts']>): Buffer {
  const entry = firstEntry(bytes)
  const changed = change(tcpStreamEntry, entry, changes)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(changed.length)
  const head = bytes.subarray(0, endOf(bytes, entry) - entry.length - length.length)
  return Buffer.concat([head, length, changed])
}

function endOf(bytes: Buffer, entry: Uint8Array): number {
  return entry.byteOffset - bytes.byteOffset + entry.length
}

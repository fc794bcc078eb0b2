import { expect, test } from 'vitest'
import { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import {
  fdinfoEntry,
  fileEntry,
  inetSkEntry,
  taskKobjIdsEntry,
  tcpStreamEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { alignEnds, contradiction } from '../../../../src/criu/images/tcp/both-ends.ts'
import { lonelyEnds, openEnds } from '../../../../src/criu/images/tcp/open-ends.ts'
import { restorableConnections } from '../../../../src/criu/images/tcp/put-back.ts'
import { tcpSockets, tcpStates } from '../../../../src/criu/images/tcp/sockets.ts'
import { readStream, streamImage } from '../../../../src/criu/images/tcp/stream.ts'
import { parseLine } from '../../../../src/linux/tcp-table.ts'

const head = Buffer.from('1943565438313056', 'hex')
const word = (...octets: number[]) => Buffer.from(octets).readUInt32LE()
const loopback = [word(127, 0, 0, 1)]
const { established, connecting, finWait1, closeWait, listening } = tcpStates

interface End {
  readonly state?: number
  readonly from: number
  readonly to: number
  /** sequence numbers: of the next byte that comes, and after the last one to send */
  readonly next?: number
  readonly end?: number
  readonly arrived?: string
  readonly queued?: string
  readonly unsent?: number
  readonly window?: number
  readonly toAddress?: readonly number[]
}

/** The images of one process that has these sockets as descriptors 0, 1, … */
function imagesOf(...ends: readonly End[]): DumpImages {
  const files = ends.map(({ state = established, from, to, toAddress = loopback }, index) => {
    const own = toAddress.length === 1 ? loopback : [0, 0, word(0, 0, 255, 255), loopback[0] ?? 0]
    const addresses = { srcAddr: own, dstAddr: to === 0 ? own.map(() => 0) : toAddress }
    const family = toAddress.length === 1 ? 2 : 10
    const socket = { ino: index + 16, family, proto: 6, state, srcPort: from, dstPort: to }
    const isk = make(inetSkEntry, { ...socket, ...addresses })
    return make(fileEntry, { type: 2, id: index + 1, isk })
  })
  const open = ends.map((_, index) => make(fdinfoEntry, { id: index + 1, fd: index }))
  const streams = ends.map(streamOf)
  const named: Record<string, Buffer> = {
    'files.img': encodeImage({ head, entries: files }),
    'mm-7.img': encodeImage({ head, entries: [new Uint8Array()] }),
    'ids-7.img': encodeImage({ head, entries: [make(taskKobjIdsEntry, { filesId: 3 })] }),
    'fdinfo-3.img': encodeImage({ head, entries: open }),
  }
  streams.forEach((bytes, index) => {
    named[streamImage(index + 16)] = bytes
  })
  return new DumpImages('/nowhere', []).with(named)
}

function streamOf(own: End): Buffer {
  const { next = 0, end = 0, arrived = '', queued = '', unsent = 0, window = 100 } = own
  const entry = make(tcpStreamEntry, {
    inqLen: arrived.length,
    inqSeq: next,
    outqLen: queued.length,
    outqSeq: end,
    sndWscale: 7,
    unsqLen: unsent,
    sndWnd: window,
  })
  return Buffer.concat([encodeImage({ head, entries: [entry] }), Buffer.from(arrived + queued)])
}

const queueOf = (images: DumpImages, index: number) => {
  const { facts, queued } = readStream(images.bytes(streamImage(index + 16)))
  const { outqLen, unsqLen, sndWnd } = facts
  return { queued: queued.toString(), outqLen, unsqLen, sndWnd }
}

test('what has arrived is no longer to be sent, and everything else is unsent', () => {
  const sender = { from: 1000, to: 80, end: 5, queued: 'abcdefgh', unsent: 2 }
  // Numbers wrap around: the queue begins at -3, and three bytes of it are at the other end.
  const receiver = { from: 80, to: 1000, next: 0, arrived: 'abc', end: 0 }
  const images = imagesOf(sender, receiver)
  expect(contradiction(images)).toBeNull()
  const aligned = alignEnds(images)
  expect(queueOf(aligned, 0)).toEqual({ queued: 'defgh', outqLen: 5, unsqLen: 5, sndWnd: 97 })
  expect(readStream(aligned.bytes(streamImage(17))).facts.inqLen).toBe(3)
  expect(aligned.bytes(streamImage(17))).toBe(images.bytes(streamImage(17)))
})

test('an end that has arrived is acknowledged', () => {
  const sender = { state: finWait1, from: 1000, to: 80, end: 10 }
  const receiver = { state: closeWait, from: 80, to: 1000, next: 10 }
  const [one, other] = tcpSockets(alignEnds(imagesOf(sender, receiver)).files)
  expect([one?.state, other?.state]).toEqual([tcpStates.finWait2, closeWait])
})

test('ends that were not dumped at the same moment contradict each other', () => {
  const sender = { from: 1000, to: 80, end: 10, queued: 'ab' }
  const lost = imagesOf(sender, { from: 80, to: 1000, next: 7 })
  expect(contradiction(lost)?.sender.from.port).toBe(1000)
  const invented = imagesOf(sender, { from: 80, to: 1000, next: 11 })
  expect(contradiction(invented)).not.toBeNull()
})

test('an IPv4 address that is mapped to IPv6 is the same address', () => {
  const mapped = [0, 0, word(0, 0, 255, 255), loopback[0] ?? 0]
  const images = imagesOf({ from: 1000, to: 80 }, { from: 80, to: 1000, toAddress: mapped })
  expect(lonelyEnds(images)).toEqual([])
})

const inKernel =
  '   1: 0100007F:0050 0100007F:03E8 01 00000000:00000000 00:00000000 00000000 0 0 0 1 ffff 20 4 30 10 -1'

test('a connection that nobody has accepted is connected again', () => {
  const listener = { state: listening, from: 80, to: 0 }
  const images = imagesOf(listener, { from: 1000, to: 80 })
  const ends = openEnds(images, lonelyEnds(images), [parseLine(inKernel)])
  expect(ends).toMatchObject([{ other: 'listener', bytes: 0 }])
  const { images: restorable, attributes } = restorableConnections(images, ends)
  const value = '4 127.0.0.1 80 established'
  expect(attributes).toEqual([{ word: 'connection', process: 7, number: 1, value }])
  const { isk = new Uint8Array() } = read(
    fileEntry,
    restorable.files.entries[1] ?? new Uint8Array(),
  )
  expect(read(inetSkEntry, isk)).toMatchObject({ state: 7, srcPort: 1000, dstPort: 0 })
})

test('data that wait with the listener are counted', () => {
  const images = imagesOf({ from: 1000, to: 80 })
  const line = inKernel.replace('00000000:00000000', '00000000:0000000A')
  expect(openEnds(images, lonelyEnds(images), [parseLine(line)])).toMatchObject([{ bytes: 10 }])
})

test('an attempt to connect, what is held back and what is outside are looked after', () => {
  const outside = [word(192, 0, 2, 1)]
  const { attributes } = restorableConnections(
    imagesOf(
      { state: connecting, from: 1000, to: 80 },
      { state: closeWait, from: 1001, to: 80, queued: 'x', end: 1 },
      { from: 1002, to: 443, toAddress: outside, arrived: 'hello' },
    ),
    [],
  )
  const at = streamOf({ from: 0, to: 0, arrived: 'hello' }).length - 5
  expect(attributes.map(({ word, number, value }) => `${word} ${number} ${value}`)).toEqual([
    'segments 1 -',
    'segments 2 -',
    'connection 0 4 127.0.0.1 80 connecting',
    'push 1 -',
    `reset 2 4 12 ${at} 5 open`,
  ])
})

test('images without connections stay the same', () => {
  const images = imagesOf()
  expect(restorableConnections(images, []).images).toBe(images)
})

test('an end that has heard the last of the other one keeps the window for what it still sends', () => {
  const { images } = restorableConnections(
    imagesOf({ state: closeWait, from: 1001, to: 80, window: 65_536 << 7, end: 1 }),
    [],
  )
  expect(readStream(images.bytes(streamImage(16))).facts).toMatchObject({ rcvWnd: 0xffff })
  const small = restorableConnections(
    imagesOf({ state: closeWait, from: 1001, to: 80, window: 1000 << 7, end: 1 }),
    [],
  )
  expect(readStream(small.images.bytes(streamImage(16))).facts).toMatchObject({ rcvWnd: 1000 })
})

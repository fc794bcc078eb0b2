import { expect, test } from 'vitest'
import { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import { fileEntry, inetSkEntry } from '../../../../src/criu/images/format/criu-messages.ts'
import { decodeImage, encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { movedSockets } from '../../../../src/criu/images/moved-sockets.ts'

const head = Buffer.from('1943565438313056', 'hex')
const word = (...octets: number[]) => Buffer.from(octets).readUInt32LE()
const old = word(10, 213, 0, 2)
const next = word(10, 213, 0, 6)
const mapped = (last: number) => [0, 0, word(0, 0, 255, 255), last]

/** Sockets by their addresses: own, and that of the other end. */
function imagesOf(...sockets: readonly (readonly [readonly number[], readonly number[]])[]) {
  const entries = sockets.map(([srcAddr, dstAddr], index) => {
    const family = srcAddr.length === 1 ? 2 : 10
    const socket = { ino: index + 1, family, proto: 17, state: 7, srcPort: 1, dstPort: 2 }
    return make(fileEntry, {
      type: 2,
      id: index,
      isk: make(inetSkEntry, { ...socket, srcAddr, dstAddr }),
    })
  })
  return new DumpImages('/nowhere', []).with({ 'files.img': encodeImage({ head, entries }) })
}

function addressesIn(content: Buffer): unknown[] {
  return decodeImage(content).entries.map((entry) => {
    const { isk } = read(fileEntry, entry)
    const { srcAddr, dstAddr } = read(inetSkEntry, isk ?? Buffer.alloc(0))
    return [srcAddr, dstAddr]
  })
}

test('what is bound to the address of the environment gets the new one', () => {
  const far = [word(192, 0, 2, 1)]
  const [moved] = movedSockets(
    imagesOf([[old], far], [mapped(old), mapped(far[0] ?? 0)], [[old], [old]]),
    '10.213.0.6',
  )
  expect(moved?.name).toBe('files.img')
  expect(addressesIn(moved?.content ?? Buffer.alloc(0))).toEqual([
    [[next], far],
    [mapped(next), mapped(far[0] ?? 0)],
    [[next], [next]],
  ])
})

test('everything else stays', () => {
  const others = [[word(127, 0, 0, 1)], [0], [word(224, 0, 0, 251)], [0, 0, 0, word(0, 0, 0, 1)]]
  const images = imagesOf(...others.map((own): [number[], number[]] => [own, own]), [[next], [0]])
  expect(movedSockets(images, '10.213.0.6')).toEqual([])
})

// Frames of an agent that wants to harm its host: plausible answers, then changed.
import { encodeFields, type Fields } from '../../src/agent/wire/fields.ts'
import { encodeFrame, type Frame } from '../../src/agent/wire/frames.ts'
import { encodeRecord } from '../../src/agent/wire/records.ts'
import { FrameType } from '../../src/agent/wire/wire.ts'
import type { Random } from './random.ts'

const names = [
  'a',
  'b',
  'file',
  'link',
  '..',
  '.',
  '',
  'a/b',
  '../../../outside/secret',
  'x'.repeat(300),
  '.forkpoint-apply-1',
  '\u001b]52;c;eA==\u0007',
  'ü',
  '\udc80\udcff',
  'outside',
]
const numbers = [0, 1, 2, 3, -1, 7, 420, 4096, 65_536, 2 ** 31, 2 ** 40, -(2 ** 40), 2 ** 53 - 1]
const replays = [
  'plain text\r\n',
  '\u001b[6n\u001b]52;c;eA==\u0007',
  '\u001b[2000b',
  '\u001bP+q\u001b\\',
]

function someFields(random: Random): Fields {
  const number = () => random.pick(numbers)
  const all: Fields = {
    type: random.pick([1, 2, 3, 4, 9]),
    mode: number(),
    size: number(),
    blocks: number(),
    mtimeNs: BigInt(number()),
    uid: number(),
    gid: number(),
    nlink: number(),
    name: random.pick(names),
    target: random.pick(names),
    path: random.pick(names),
    pid: number(),
    exitCode: number(),
    durationUs: number(),
    running: random.int(2),
    cols: number(),
    rows: number(),
    replayBytes: number(),
    stdoutOffset: number(),
    id: 'c-1',
    shell: 'main',
    command: 'x'.repeat(random.int(5000)),
    event: random.int(9),
    errno: random.int(140),
    message: random.pick(names),
    version: 1,
    rssBytes: number(),
    openFds: 1,
    commands: 1,
    connections: 1,
    signal: random.int(70),
    argv: ['a', 'b'],
  }
  const kept = Object.entries(all).filter(() => random.chance(0.85))
  return Object.fromEntries(kept) as Fields
}

/** Attributes of a file or directory, all of them correct. */
function trueFacts(random: Random): Fields {
  return {
    type: random.pick([1, 1, 2, 3]),
    mode: 420,
    size: 10,
    blocks: 8,
    mtimeNs: 1n,
    uid: 0,
    gid: 0,
    nlink: 1,
    target: random.pick(names),
    name: random.pick(names),
  }
}

function records(random: Random): Buffer {
  const count = random.int(40)
  const made = Array.from({ length: count }, () =>
    encodeRecord(random.chance(0.7) ? trueFacts(random) : someFields(random)),
  )
  return Buffer.concat(made)
}

function content(random: Random): Buffer {
  const offset = Buffer.alloc(8)
  offset.writeBigUInt64LE(
    random.chance(0.7) ? 0n : BigInt.asUintN(64, BigInt(random.pick(numbers))),
  )
  return Buffer.concat([offset, random.bytes(random.int(200))])
}

function dataOf(random: Random): Buffer {
  const kind = random.int(6)
  if (kind === 0) return records(random).subarray(0, 131_072)
  if (kind === 1) return content(random)
  if (kind === 2) return Buffer.from(random.pick(replays).repeat(1 + random.int(20)))
  if (kind === 3) return random.bytes(random.int(64))
  if (kind === 4) return Buffer.alloc(random.pick([1, 4096, 65_536, 131_072]))
  return Buffer.from('x')
}

/** One plausible frame for a stream that the host has opened. */
function plausible(random: Random, stream: number): Frame {
  const fields = encodeFields(random.chance(0.5) ? trueFacts(random) : someFields(random))
  const credit = Buffer.alloc(4)
  credit.writeUInt32LE(random.pick([0, 1, 65_536, 262_144, 0xffff_ffff]))
  const frames: Frame[] = [
    { type: FrameType.data, channel: 1, stream, payload: dataOf(random) },
    { type: FrameType.data, channel: random.int(3), stream, payload: dataOf(random) },
    { type: FrameType.event, channel: 0, stream, payload: fields },
    { type: FrameType.result, channel: 0, stream, payload: fields },
    { type: FrameType.error, channel: 0, stream, payload: fields },
    { type: FrameType.window, channel: 0, stream, payload: credit },
    { type: FrameType.end, channel: random.int(3), stream, payload: Buffer.alloc(0) },
    { type: FrameType.ping, channel: 0, stream: 0, payload: random.bytes(random.int(16)) },
    { type: FrameType.pong, channel: 0, stream: 0, payload: random.bytes(random.int(16)) },
  ]
  return random.pick(frames)
}

/** Bytes with something wrong in them. */
export function mutated(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  switch (random.int(6)) {
    case 0: {
      const at = random.int(copy.length)
      copy.writeUInt8(copy.readUInt8(at) ^ (1 << random.int(8)), at)
      return copy
    }
    case 1:
      return copy.subarray(0, random.int(copy.length))
    case 2:
      return Buffer.concat([copy, random.bytes(random.int(32))])
    case 3:
      copy.writeUInt32LE(random.pick([0, 1, 131_073, 0xffff_ffff]), 0)
      return copy
    case 4:
      copy.writeUInt8(random.int(256), random.int(Math.min(12, copy.length)))
      return copy
    default: {
      const from = random.int(copy.length)
      return Buffer.concat([copy.subarray(from), copy.subarray(0, from)])
    }
  }
}

/** What the agent sends when the host opens `stream`: some frames, perhaps one of them broken. */
export function answer(random: Random, stream: number): Buffer[] {
  const broken = random.chance(0.3) ? random.int(6) : -1
  return Array.from({ length: random.int(7) }, (_, index) => {
    const target = random.chance(0.95) ? stream : random.int(1000)
    const frame = encodeFrame(plausible(random, target))
    return index === broken ? mutated(random, frame) : frame
  })
}

/** Usually the end of an operation: without it, every round would last until the timeout. */
export function ending(random: Random, stream: number): Buffer[] {
  if (random.chance(0.1)) return []
  const good = {
    exitCode: 0,
    durationUs: 1,
    size: 10,
    mode: 420,
    mtimeNs: 1n,
    ...trueFacts(random),
  }
  const payload = encodeFields(random.chance(0.8) ? good : someFields(random))
  return [encodeFrame({ type: FrameType.result, channel: 0, stream, payload })]
}

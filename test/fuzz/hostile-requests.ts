// Frames of a broken host: plausible requests, then changed.
import { encodeFields, type Fields } from '../../src/agent/wire/fields.ts'
import { encodeFrame, type Frame } from '../../src/agent/wire/frames.ts'
import { FrameType, Op } from '../../src/agent/wire/wire.ts'
import type { Random } from './random.ts'

const ids = ['c-1', 'c-2', 'c-3', '', 'x'.repeat(70), '../x']
const commands = ['true', 'echo x; echo y >&2', 'cat', 'exit 3', 'sleep 0.1', '(', 'kill -9 $$']
const ops = Object.values(Op).filter((op) => op !== Op.quiesce)

/** Paths are in the test's own directory: the agent is root, even if in a throw-away copy. */
function request(random: Random, directory: string): Fields {
  const path = () => `${directory}/${random.pick(['a', 'b', 'c', 'a/b', 'a/b/c', '..', ''])}`
  const number = () => random.pick([0, 1, -1, 80, 4096, 2 ** 31, 2 ** 40, -(2 ** 50)])
  const all: Fields = {
    op: random.pick(ops),
    id: random.pick(ids),
    modeExec: random.int(3),
    command: random.pick(commands),
    argv: ['/bin/echo', 'x'],
    shell: random.pick(ids),
    cwd: path(),
    env: [random.pick(['A=b', 'A', '=', 'A=1'])],
    user: random.pick(['0', 'x']),
    timeoutMs: number(),
    graceMs: number(),
    stdin: random.int(2),
    signal: random.int(70),
    path: path(),
    target: path(),
    mode: number(),
    size: number(),
    offset: number(),
    mtimeNs: BigInt(number()),
    uid: number(),
    gid: number(),
    flags: random.int(8),
    name: random.pick(ids),
    cols: number(),
    rows: number(),
    host: '127.0.0.1',
    port: 1,
    stdoutOffset: number(),
    stderrOffset: number(),
    hostname: 'h',
    machineId: 'm',
  }
  const kept = Object.entries(all).filter(([name]) => name === 'op' || random.chance(0.7))
  return Object.fromEntries(kept) as Fields
}

function credit(random: Random): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(random.pick([0, 1, 65_536, 0xffff_ffff]))
  return bytes
}

/** One frame of a host; there are few streams, so that frames often hit open ones. */
export function hostFrame(random: Random, directory: string): Frame {
  const stream = random.int(12)
  const fields = encodeFields(request(random, directory))
  const channel = random.chance(0.9) ? 0 : random.int(4)
  const frames: Frame[] = [
    { type: FrameType.open, channel, stream, payload: fields },
    { type: FrameType.open, channel, stream, payload: fields },
    { type: FrameType.open, channel, stream, payload: fields, flags: 1 },
    { type: FrameType.data, channel, stream, payload: random.bytes(random.int(100)) },
    { type: FrameType.window, channel: random.int(3), stream, payload: credit(random) },
    {
      type: FrameType.end,
      channel,
      stream,
      payload: random.chance(0.5) ? fields : Buffer.alloc(0),
    },
    { type: FrameType.cancel, channel, stream, payload: Buffer.alloc(0) },
    { type: FrameType.ping, channel, stream: 0, payload: random.bytes(8) },
  ]
  return random.pick(frames)
}

export function hello(): Buffer {
  const payload = encodeFields({ version: 1 })
  return encodeFrame({ type: FrameType.hello, channel: 0, stream: 0, payload })
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replay } from '../../../src/backends/native/overlay/view/changes/sent/replay.ts'
import {
  type Command,
  parseStream,
} from '../../../src/backends/native/overlay/view/changes/sent/stream.ts'

function attribute(type: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(4)
  header.writeUInt16LE(type, 0)
  header.writeUInt16LE(bytes.length, 2)
  return Buffer.concat([header, bytes])
}

function command(kind: number, ...attributes: Buffer[]): Buffer {
  const body = Buffer.concat(attributes)
  const header = Buffer.alloc(10)
  header.writeUInt32LE(body.length, 0)
  header.writeUInt16LE(kind, 4)
  return Buffer.concat([header, body])
}

const header = Buffer.from('btrfs-stream\0\x01\0\0\0', 'latin1')
const [mkdir, rename, unlink, chmod, end] = [4, 9, 11, 18, 21]
const [path, pathTo] = [15, 16]

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function parsed(bytes: Buffer, size = 7): Promise<Command[]> {
  const commands: Command[] = []
  for await (const each of parseStream(inChunks(bytes, size))) commands.push(each)
  return commands
}

describe('the stream of a comparison', () => {
  const whole = Buffer.concat([
    header,
    command(2, attribute(path, 'name of the snapshot')),
    command(mkdir, attribute(path, 'o7-1-0'), attribute(3, Buffer.alloc(8))),
    command(rename, attribute(path, 'o7-1-0'), attribute(pathTo, 'upper/a')),
    command(chmod, attribute(path, Buffer.from('upper/\xff\n', 'latin1'))),
    command(unlink, attribute(path, 'upper/gone')),
    command(end),
  ])

  test('is parsed however it is cut', async () => {
    for (const size of [1, 3, 10, 1000]) {
      expect(await parsed(whole, size)).toEqual([
        { kind: 'make', path: 'o7-1-0', to: '' },
        { kind: 'rename', path: 'o7-1-0', to: 'upper/a' },
        { kind: 'touch', path: 'upper/\udcff\n', to: '' },
        { kind: 'remove', path: 'upper/gone', to: '' },
      ])
    }
  })

  test('is refused if it ends early, wherever that is', async () => {
    for (let length = 0; length < whole.length; length += 1) {
      await expect(parsed(whole.subarray(0, length), 1000)).rejects.toThrow(/ended early/)
    }
  })

  test('is refused if a length or a header is wrong', async () => {
    const long = command(chmod, attribute(path, 'x'))
    long.writeUInt32LE(2 ** 31, 0)
    const cut = command(chmod, attribute(path, 'x'))
    cut.writeUInt16LE(500, 12)
    const short = command(chmod, Buffer.from('abc'))
    for (const bad of [long, cut, short, command(chmod), command(rename, attribute(path, 'a'))]) {
      await expect(parsed(Buffer.concat([header, bad, command(end)]))).rejects.toThrow()
    }
    await expect(parsed(Buffer.from('btrfs-stream\0\x02\0\0\0', 'latin1'))).rejects.toThrow()
  })

  test('never does anything else with any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await expect(parsed(Buffer.concat([header, bytes]))).rejects.toThrow()
      }),
    )
  })
})

describe('following the commands of a comparison', () => {
  const make = (at: string): Command => ({ kind: 'make', path: at, to: '' })
  const touch = (at: string): Command => ({ kind: 'touch', path: at, to: '' })
  const remove = (at: string): Command => ({ kind: 'remove', path: at, to: '' })
  const move = (at: string, to: string): Command => ({ kind: 'rename', path: at, to })

  async function followed(...commands: Command[]) {
    const { touched, movedFrom, movedTo } = await replay(
      (async function* () {
        yield* commands
      })(),
    )
    return { touched: [...touched].sort(), movedFrom, movedTo }
  }

  test('what is below a moved directory is where it was and where it is', async () => {
    expect(await followed(move('u/a', 'u/b'), touch('u/b/x'), remove('u/b/y'))).toEqual({
      touched: ['u/a', 'u/a/x', 'u/a/y', 'u/b', 'u/b/x', 'u/b/y'],
      movedFrom: ['u/a'],
      movedTo: ['u/b'],
    })
  })

  test('a name of the moment leads to the last one', async () => {
    const { touched, movedFrom } = await followed(make('o1'), make('o1/f'), move('o1', 'u/new'))
    expect(touched).toEqual(expect.arrayContaining(['u/new', 'u/new/f']))
    expect(movedFrom).toEqual([])
  })

  test('two directories that change places are both moved', async () => {
    const swap = await followed(move('u/a', 'o1'), move('u/b', 'u/a'), move('o1', 'u/b'))
    expect(swap.movedFrom.toSorted()).toEqual(['u/a', 'u/b'])
    expect(swap.movedTo.toSorted()).toEqual(['u/a', 'u/b'])
  })

  test('a removed directory names everything that it had, also after a move', async () => {
    const { touched } = await followed(move('u/a', 'o1'), remove('o1/x'), remove('o1'))
    expect(touched).toEqual(expect.arrayContaining(['u/a', 'u/a/x']))
  })

  test('paths that cannot be are refused', async () => {
    for (const bad of ['u/../x', '/u', 'u//x', 'u/.']) {
      await expect(followed(touch(bad))).rejects.toThrow(/cannot be/)
    }
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textToBytes } from '../../../src/agent/files/byte-text.ts'
import {
  restrict,
  splitLayers,
  uncoveredPaths,
} from '../../../src/backends/native/overlay/view/changes/candidates.ts'
import { classify } from '../../../src/backends/native/overlay/view/changes/classify.ts'
import { findRenames } from '../../../src/backends/native/overlay/view/changes/renames.ts'
import { parseBlocks } from '../../../src/backends/native/overlay/view/contents.ts'
import { coverOf } from '../../../src/backends/native/overlay/view/cover.ts'
import { patchName } from '../../../src/backends/native/overlay/view/patch-name.ts'
import { parseInsidePath } from '../../../src/backends/native/overlay/view/paths.ts'
import { parseRecords, toFileEntry } from '../../../src/backends/native/overlay/view/records.ts'
import { isBelow, outermost } from '../../../src/linux/mask/outermost.ts'
import type { ChangedFile, FileChange } from '../../../src/model/files/file-change.ts'

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0
  for (const size of sizes) {
    yield bytes.subarray(at, at + size)
    at += size
  }
  yield bytes.subarray(at)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const sizes = fc.array(fc.integer({ min: 0, max: 20 }))
/** Any bytes that may occur in a name. */
const name = fc
  .uint8Array({ min: 1, minLength: 1, maxLength: 12 })
  .filter((bytes) => !bytes.includes(0x2f))
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`)

const file: ChangedFile = { type: 'file', mode: 0o644, uid: 0, gid: 0, sizeBytes: 3, mtimeMs: 0 }

describe('records', () => {
  test('are the same however the pipe cuts them, with names of any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(name), sizes, async (names, cuts) => {
        const facts = Buffer.from('1 f 644 5 6 7 8 500000000 0 0 9 1 0\0\0')
        const records = names.map((bytes) => Buffer.concat([facts, bytes, Buffer.of(0)]))
        const entries = await all(parseRecords(inPieces(Buffer.concat(records), cuts)))
        expect(entries.map((entry) => textToBytes(entry?.path ?? ''))).toEqual(
          names.map((bytes) => Buffer.concat([Buffer.from('/'), bytes])),
        )
        for (const entry of entries) {
          expect(entry).toMatchObject({ layer: 1, mode: 0o644, uid: 5, size: 7, mtimeMs: 8500 })
        }
      }),
    )
  })

  test('are empty for a path that does not exist', async () => {
    expect(await all(parseRecords(inPieces(Buffer.from('-1 -\0\0x\0'), [])))).toEqual([null])
  })

  test('that end early are an error', async () => {
    await expect(all(parseRecords(inPieces(Buffer.from('1 f 644'), [])))).rejects.toThrow('record')
  })

  test('show ids as seen inside, and unmapped ones as nobody', async () => {
    const bytes = Buffer.from('0 f 644 1000005 3 7 8 0 0 0 9 1 0\0\0x\0')
    const [entry] = await all(parseRecords(inPieces(bytes, [])))
    const layer = { path: '/l', ids: 'cell' } as const
    expect(entry && toFileEntry(entry, layer, { base: 1_000_000, count: 65_536 })).toMatchObject({
      uid: 5,
      gid: 65_534,
    })
  })
})

test('blocks are the same however the pipe cuts them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1 })), sizes, async (parts, cuts) => {
      const framed = parts.flatMap((part) => {
        const length = Buffer.alloc(4)
        length.writeUInt32BE(part.length)
        return [length, part]
      })
      const end = Buffer.from([0, 0, 0, 0, 255, 255, 255, 255])
      const blocks = await all(parseBlocks(inPieces(Buffer.concat([...framed, end]), cuts)))
      expect(blocks.map(({ kind }) => kind)).toEqual([...parts.map(() => 'bytes'), 'end', 'none'])
    }),
  )
})

describe('paths', () => {
  test('outermost ones cover everything, and none covers another', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const kept = outermost(paths)
        for (const each of paths) expect(kept.some((above) => isBelow(each, above))).toBe(true)
        for (const each of kept) expect(kept.filter((up) => isBelow(each, up))).toEqual([each])
      }),
    )
  })

  test('are covered by one that is equal or above them', () => {
    fc.assert(
      fc.property(fc.array(path), path, (paths, probe) => {
        const cover = coverOf(paths)(probe)
        expect(cover !== undefined).toBe(paths.some((above) => isBelow(probe, above)))
        if (cover !== undefined) expect(isBelow(probe, cover)).toBe(true)
      }),
    )
    expect(coverOf(['/a-b', '/a'])('/a/b')).toBe('/a')
    expect(coverOf(['/'])('/a')).toBe('/')
  })

  test('inside are absolute and do not contain ..', () => {
    expect(parseInsidePath('//a/./b/')).toBe('/a/b')
    for (const bad of ['a', '/a/../b', '', '/a\0']) expect(() => parseInsidePath(bad)).toThrow()
  })

  test('restricted ones lie below a root and below a filter', () => {
    fc.assert(
      fc.property(fc.array(path), fc.array(path), path, (roots, filters, probe) => {
        const wanted = roots.some((root) => isBelow(probe, root))
        const asked = filters.some((filter) => isBelow(probe, filter))
        const covered = restrict(roots, filters).some((root) => isBelow(probe, root))
        expect(covered).toBe(wanted && asked)
      }),
    )
  })

  test('uncovered ones are where exactly one side hides', () => {
    fc.assert(
      fc.property(fc.array(path), fc.array(path), path, (a, b, probe) => {
        const hides = (by: string[]) => by.some((above) => isBelow(probe, above))
        const covered = uncoveredPaths(a, b).some((up) => isBelow(probe, up))
        if (hides(a) !== hides(b)) expect(covered).toBe(true)
        if (!hides(a) && !hides(b)) expect(covered).toBe(false)
      }),
    )
  })

  test('are quoted in patches so that every byte survives', () => {
    expect(patchName('a', '/plain ä')).toBe('a/plain ä')
    expect(patchName('b', '/t\t"\\\udcff')).toBe('"b/t\\t\\"\\\\\\377"')
    // An escape sequence of one character, and one that makes text run backwards.
    expect(patchName('b', '/\u009b2J')).toBe('"b/\\302\\2332J"')
    expect(patchName('b', '/\u202egpj')).toBe('"b/\\342\\200\\256gpj"')
  })
})

test('layers under both sides are not compared', () => {
  const layer = fc.constantFrom('x', 'y', 'z').map((at) => ({ path: at, ids: 'cell' as const }))
  fc.assert(
    fc.property(fc.array(layer), fc.array(layer), fc.array(layer), (a, b, common) => {
      const split = splitLayers([...a, ...common], [...b, ...common])
      expect([...split.a, ...split.common]).toEqual([...a, ...common])
      expect([...split.b, ...split.common]).toEqual([...b, ...common])
      expect(split.common.length).toBeGreaterThanOrEqual(common.length)
    }),
  )
})

test('a change has one kind, the most important', () => {
  expect(classify(null, file, 'different')).toBe('added')
  expect(classify(file, null, 'different')).toBe('deleted')
  expect(classify(file, { ...file, mode: 0o600, uid: 1 }, 'different')).toBe('modified')
  expect(classify(file, { ...file, mode: 0o600, uid: 1 }, 'same')).toBe('mode')
  expect(classify(file, { ...file, gid: 1, mtimeMs: 9 }, 'same')).toBe('owner')
  expect(classify(file, { ...file, mtimeMs: 9 }, 'same')).toBeNull()
  expect(classify(file, { ...file, type: 'directory' }, 'same')).toBe('type')
})

test('renames pair what is unique on both sides, and lose nothing', () => {
  const content = fc.constantFrom('p', 'q', 'r')
  fc.assert(
    fc.property(fc.array(content), fc.array(content), (deleted, added) => {
      const keys = new Map<string, string>()
      const change = (kind: 'deleted' | 'added', key: string, at: number): FileChange => {
        const where = `/${kind}${at}`
        keys.set(where, key)
        const entries =
          kind === 'added' ? { before: null, after: file } : { before: file, after: null }
        return { path: where, kind, ...entries, sizeDelta: 3 }
      }
      const changes = [
        ...deleted.map((key, at) => change('deleted', key, at)),
        ...added.map((key, at) => change('added', key, at)),
      ]
      const found = findRenames(changes, (_, where) => keys.get(where) ?? null)
      const renamed = found.filter(({ kind }) => kind === 'renamed')
      const once = (list: string[], key: string) => list.filter((each) => each === key).length === 1
      const expected = ['p', 'q', 'r'].filter((key) => once(deleted, key) && once(added, key))
      expect(renamed.map(({ from }) => keys.get(from ?? '')).sort()).toEqual(expected)
      expect(found.length).toBe(changes.length - renamed.length)
    }),
  )
})

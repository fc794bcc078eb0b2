import { expect, test } from 'vitest'
import {
  mntEntry,
  seccompEntry,
  seccompFilter,
  uidGidExtent,
  usernsEntry,
} from '../../../../src/criu/images/criu-messages.ts'
import { decodeImage, encodeImage } from '../../../../src/criu/images/image-file.ts'
import {
  rootFlagsOf,
  withFilter,
  withIds,
  withRootFlags,
} from '../../../../src/criu/images/replaced-images.ts'
import { make, read } from '../../../../src/criu/images/schema.ts'

const head = Buffer.from('1943565440110555', 'hex')
const image = (...entries: Uint8Array[]) => encodeImage({ head, entries })

test('a life has its own ids, users and groups', () => {
  const old = make(uidGidExtent, { first: 0, lowerFirst: 1_000_000, count: 65_536 })
  const before = image(make(usernsEntry, { uidMap: [old], gidMap: [old, old] }))
  const [entry] = decodeImage(withIds(before, { base: 7_000_000, count: 1000 })).entries
  const { uidMap, gidMap } = read(usernsEntry, entry ?? new Uint8Array())
  for (const map of [uidMap, gidMap]) {
    expect(map.map((each) => read(uidGidExtent, each))).toMatchObject([
      { first: 0, lowerFirst: 7_000_000, count: 1000 },
    ])
  }
})

test('the root has the flags of a new one, other mounts keep theirs', () => {
  const mount = (mountpoint: string, flags: number) =>
    make(mntEntry, { mntId: 1, flags, mountpoint })
  const before = image(mount('/', 0x400), mount('/dev', 0x400))
  const flagsOf = (file: Buffer | null) =>
    file && decodeImage(file).entries.map((entry) => read(mntEntry, entry).flags)
  expect(flagsOf(withRootFlags(before, rootFlagsOf({ noNewPrivs: false })))).toEqual([0x404, 0x400])
  expect(flagsOf(withRootFlags(before, rootFlagsOf({ noNewPrivs: true })))).toEqual([0x406, 0x400])
  expect(withRootFlags(image(mount('/', 0x404)), 4)).toBeNull()
})

test('the filter that was installed first is the one of this version, those of programs stay', () => {
  const filter = (bytes: number[], prev?: number) =>
    make(seccompFilter, { filter: Buffer.from(bytes), prev })
  const ours = Buffer.from([9, 9])
  const before = image(make(seccompEntry, { filters: [filter([1]), filter([2], 0), filter([3])] }))
  const after = withFilter(before, ours)
  const [entry] = decodeImage(after ?? Buffer.alloc(8)).entries
  const filters = read(seccompEntry, entry ?? new Uint8Array()).filters.map((each) =>
    read(seccompFilter, each),
  )
  expect(filters.map((each) => [...each.filter])).toEqual([[9, 9], [2], [9, 9]])
  expect(filters.map(({ prev }) => prev)).toEqual([undefined, 0, undefined])
  expect(withFilter(after ?? Buffer.alloc(0), ours)).toBeNull()
})

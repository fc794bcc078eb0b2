import { expect, test } from 'vitest'
import {
  mntEntry,
  seccompEntry,
  seccompFilter,
  uidGidExtent,
  usernsEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import type { ImageFile } from '../../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import {
  rootFlagsOf,
  withFilter,
  withIds,
  withRootFlags,
} from '../../../../src/criu/images/replaced-images.ts'

const head = Buffer.from('1943565440110555', 'hex')
const image = (...entries: Uint8Array[]) => ({ head, entries })

test('each life has its own user and group ids', () => {
  const old = make(uidGidExtent, { first: 0, lowerFirst: 1_000_000, count: 65_536 })
  const before = image(make(usernsEntry, { uidMap: [old], gidMap: [old, old] }))
  const [entry] = withIds(before, { base: 7_000_000, count: 1000 }).entries
  const { uidMap, gidMap } = read(usernsEntry, entry ?? new Uint8Array())
  for (const map of [uidMap, gidMap]) {
    expect(map.map((each) => read(uidGidExtent, each))).toMatchObject([
      { first: 0, lowerFirst: 7_000_000, count: 1000 },
    ])
  }
})

test('the root gets the flags of a new one, other mounts keep theirs', () => {
  const mount = (mountpoint: string, flags: number) =>
    make(mntEntry, { mntId: 1, flags, mountpoint })
  const before = image(mount('/', 0x400), mount('/dev', 0x400))
  const flagsOf = (file: ImageFile) => file.entries.map((entry) => read(mntEntry, entry).flags)
  expect(flagsOf(withRootFlags(before, rootFlagsOf({ noNewPrivs: false })))).toEqual([0x404, 0x400])
  expect(flagsOf(withRootFlags(before, rootFlagsOf({ noNewPrivs: true })))).toEqual([0x406, 0x400])
  const walled = image(mount('/', 0x404))
  expect(withRootFlags(walled, 4)).toBe(walled)
})

test("the cell's filter is replaced by the current one, those of programs stay", () => {
  const filter = (bytes: number[], prev?: number) =>
    make(seccompFilter, { filter: Buffer.from(bytes), prev })
  const ours = Buffer.from([9, 9])
  // CRIU lists the filters of a process from the last that was installed to the first.
  const filters = [filter([1]), filter([2]), filter([1], 1), filter([3], 2)]
  const before = image(make(seccompEntry, { filters }))
  const after = withFilter(before, 0, ours)
  const [entry] = after.entries
  const changed = read(seccompEntry, entry ?? new Uint8Array()).filters.map((each) =>
    read(seccompFilter, each),
  )
  expect(changed.map((each) => [...each.filter])).toEqual([[9, 9], [2], [9, 9], [3]])
  expect(changed.map(({ prev }) => prev)).toEqual([undefined, undefined, 1, 2])
  expect(withFilter(after, 0, ours)).toBe(after)
  expect(withFilter(before, null, ours)).toBe(before)
})

import { describe, expect, test } from 'vitest'
import { imageOf, layersIn, toImageRecord } from '../../../src/backends/native/image.ts'
import { fromRecord, hasOwnIds, toRecord } from '../../../src/backends/native/instance.ts'
import { BackendError } from '../../../src/model/errors.ts'

/** As the previous release wrote it. */
const instance = {
  kind: 'native',
  slot: 3,
  process: { pid: 12, startTicks: 345, bootId: 'b' },
  socket: { dev: '64769', ino: '18446744073709551615', birthtimeNs: '1763358000000000001' },
  ids: { base: 1_065_536, count: 65_536 },
  net: null,
  layers: [{ path: '/layers/s1', ids: 'cell' }],
} as const

const image = {
  kind: 'native',
  captured: ['filesystem', 'processes', 'terminal'],
  pinned: false,
  root: { mode: 0o755, uid: 0, gid: 0 },
  layers: [{ path: '/', ids: 'host' }],
} as const

describe('a stored instance', () => {
  test('is what it was, with identities of 64 bits', () => {
    const parsed = fromRecord(instance)
    expect(parsed.socket.ino).toBe(2n ** 64n - 1n)
    expect(toRecord(parsed)).toEqual(instance)
  })

  test('of a version that gave all environments the same ids is recognized', () => {
    const { ids: _, ...older } = instance
    expect(fromRecord(older)).not.toHaveProperty('ids')
    expect([hasOwnIds(older), hasOwnIds(instance)]).toEqual([false, true])
  })

  test.each([
    ['of another backend', { ...instance, kind: 'other' }],
    ['without a process', { kind: 'native', slot: 1 }],
    ['with an invalid path', { ...instance, layers: [{ path: 1, ids: 'cell' }] }],
  ])('%s is refused with a remedy', (_, record) => {
    const parse = () => fromRecord(record)
    expect(parse).toThrow(BackendError)
    expect(parse).toThrow(/unreadable .* of the native backend/)
  })
})

describe('a stored image', () => {
  test('is what it was', () => {
    expect(toImageRecord(imageOf({ image }))).toEqual(image)
  })

  test('of a version without pinning is not pinned', () => {
    const { pinned: _, root: __, ...older } = image
    expect(imageOf({ image: older })).toEqual({ ...older, pinned: false })
  })

  test('of a snapshot that is being taken has no layers, and is not an image', () => {
    expect(layersIn({})).toEqual([])
    expect(() => imageOf({ image: {} })).toThrow(BackendError)
  })
})

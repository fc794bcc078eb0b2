import { expect, test } from 'vitest'
import { ConflictError, InvalidInputError, NotFoundError } from '../../../src/model/errors.ts'
import { type EnvironmentId, newEnvironmentId, newSnapshotId } from '../../../src/model/ids.ts'
import type { SnapshotRecord } from '../../../src/model/snapshot.ts'
import { parseName } from '../../../src/model/values/names.ts'
import { someEnvironment, temporaryStore } from './temporary-store.ts'

const twinA = 'e0000000000a' as EnvironmentId
const twinB = 'e0000000000b' as EnvironmentId

function remedyOf(run: () => unknown): { error: unknown; remedy: string } {
  try {
    run()
  } catch (error) {
    return { error, remedy: String((error as NotFoundError).remedy) }
  }
  throw new Error('it was accepted')
}

test('what was stored comes back the same', () => {
  const { environments } = temporaryStore()
  const record = someEnvironment({
    name: parseName('fix-bug'),
    source: { kind: 'image', ref: 'debian:12' },
    limits: {},
    net: { mode: 'nat', allow: ['10.0.0.0/8'] },
    labels: { task: '"quoted" ü\n' },
    instance: { kind: 'native', pid: 7, mounts: ['/a', null, { deep: true }] },
  })
  environments.insert(record)
  expect(environments.get(record.id)).toEqual(record)
  expect(environments.list()).toEqual([record])
})

test('an environment is found by id, by name and by the beginning of its id', () => {
  const { environments } = temporaryStore()
  const record = someEnvironment({ name: parseName('fix-bug') })
  environments.insert(record)
  environments.insert(someEnvironment({ id: twinA }))
  for (const ref of [record.id, 'fix-bug', record.id.slice(0, 6)]) {
    expect(environments.resolve(ref)).toEqual(record)
  }
})

test('a name wins over the beginning of an id', () => {
  const { environments } = temporaryStore()
  environments.insert(someEnvironment({ id: twinA }))
  const named = someEnvironment({ name: parseName('e000') })
  environments.insert(named)
  expect(environments.resolve('e000').id).toBe(named.id)
})

test('a shortened id that fits several is refused with all of them', () => {
  const { environments } = temporaryStore()
  environments.insert(someEnvironment({ id: twinA, name: parseName('left') }))
  environments.insert(someEnvironment({ id: twinB }))
  const { error, remedy } = remedyOf(() => environments.resolve('e00000'))
  expect(error).toBeInstanceOf(ConflictError)
  expect(remedy).toBe(`give more of it: ${twinA} (left), ${twinB}`)
  expect(environments.resolve(twinB).id).toBe(twinB)
})

test('a shortened id of less than four characters never matches by accident', () => {
  const { environments } = temporaryStore()
  environments.insert(someEnvironment({ id: twinA }))
  const { error, remedy } = remedyOf(() => environments.resolve('e'))
  expect(error).toBeInstanceOf(NotFoundError)
  expect(remedy).toBe('give at least 4 characters of the id')
})

test('a mistyped name is answered with a suggestion', () => {
  const { environments } = temporaryStore()
  environments.insert(someEnvironment({ name: parseName('fix-bug') }))
  const { error, remedy } = remedyOf(() => environments.resolve('fix-bgu'))
  expect(error).toBeInstanceOf(NotFoundError)
  expect(remedy).toBe('did you mean fix-bug?')
  expect(remedyOf(() => environments.resolve('zzzzzz')).remedy).toContain('forkpoint ls')
})

test.each(["' OR 1=1 --", '%', '../..', 'e%%%', '\0', 'x'.repeat(100_000)])(
  'hostile reference %.20j finds nothing',
  (ref) => {
    const { environments } = temporaryStore()
    environments.insert(someEnvironment({ name: parseName('fix-bug') }))
    expect(() => environments.resolve(ref)).toThrow(NotFoundError)
  },
)

test('no reference at all is bad input', () => {
  expect(() => temporaryStore().environments.resolve('')).toThrow(InvalidInputError)
})

test('an environment and a snapshot cannot have the same name, in either order and by renaming', () => {
  const { environments, snapshots } = temporaryStore()
  const environment = someEnvironment({ name: parseName('web') })
  const snapshot = someSnapshot({ name: parseName('ready') })
  environments.insert(environment)
  snapshots.insert(snapshot)
  const attempts = [
    () => snapshots.insert(someSnapshot({ name: parseName('web') })),
    () => snapshots.update(snapshot.id, { name: parseName('web') }),
    () => environments.insert(someEnvironment({ name: parseName('ready') })),
    () => environments.update(environment.id, { name: parseName('ready') }),
  ]
  for (const attempt of attempts) {
    expect(remedyOf(attempt).error).toBeInstanceOf(ConflictError)
    expect(remedyOf(attempt).remedy).toContain('choose another name')
  }
  expect(snapshots.list()).toMatchObject([{ name: 'ready' }])
  expect(environments.list()).toMatchObject([{ name: 'web' }])
  // One that keeps its name is not refused for it.
  expect(snapshots.update(snapshot.id, { durable: true }).name).toBe('ready')
})

test('a name in use is refused with its owner, on creation and on renaming', () => {
  const { environments } = temporaryStore()
  const holder = someEnvironment({ name: parseName('taken') })
  const other = someEnvironment()
  environments.insert(holder)
  environments.insert(other)
  const insert = remedyOf(() => environments.insert(someEnvironment({ name: parseName('taken') })))
  const rename = remedyOf(() => environments.update(other.id, { name: parseName('taken') }))
  for (const { error, remedy } of [insert, rename]) {
    expect(error).toBeInstanceOf(ConflictError)
    expect((error as ConflictError).message).toContain(`taken by environment ${holder.id}`)
    expect(remedy).toContain('choose another name')
  }
  expect(environments.list()).toHaveLength(2)
  environments.remove(holder.id)
  expect(environments.update(other.id, { name: parseName('taken') }).name).toBe('taken')
})

test('a change keeps all other fields', () => {
  const { environments } = temporaryStore()
  const record = someEnvironment({ status: 'creating' })
  environments.insert(record)
  const instance = { kind: 'native', pid: 12 }
  const next = environments.update(record.id, { status: 'running', instance })
  expect(next).toEqual({ ...record, status: 'running', instance })
  expect(environments.get(record.id)).toEqual(next)
  expect(() => environments.update(newEnvironmentId(), {})).toThrow(NotFoundError)
})

test('listings are sorted by age and can be filtered', () => {
  const { environments } = temporaryStore()
  const old = someEnvironment({ createdAt: 1, status: 'dead', labels: { run: '1', side: 'a' } })
  const young = someEnvironment({ createdAt: 2, labels: { run: '1' } })
  for (const record of [young, old]) environments.insert(record)
  expect(environments.list().map(({ id }) => id)).toEqual([old.id, young.id])
  expect(environments.list({ status: 'dead' })).toEqual([old])
  expect(environments.list({ status: ['running', 'paused'] })).toEqual([young])
  expect(environments.list({ labels: { run: '1', side: 'a' } })).toEqual([old])
})

test('removing twice is not an error', () => {
  const { environments } = temporaryStore()
  const record = someEnvironment()
  environments.insert(record)
  environments.remove(record.id)
  environments.remove(record.id)
  expect(environments.get(record.id)).toBeUndefined()
})

function someSnapshot(changes: Partial<SnapshotRecord> = {}): SnapshotRecord {
  return {
    id: newSnapshotId(),
    name: null,
    environmentId: twinA,
    parent: null,
    backend: 'native',
    status: 'ready',
    proof: 'proven',
    durable: false,
    captured: ['filesystem'],
    original: 'kept',
    by: 'user',
    message: '',
    labels: {},
    metadata: null,
    sizes: { filesBytes: null, imagesBytes: 0 },
    timing: { pauseMs: 0, totalMs: 0, phases: [] },
    origin: {
      source: { kind: 'host' },
      limits: {},
      net: { mode: 'none', allow: [] },
      env: {},
      workdir: '/root',
      labels: {},
    },
    createdAt: 1,
    image: {},
    ...changes,
  }
}

test('a snapshot that something builds on cannot be removed', () => {
  const { environments, snapshots } = temporaryStore()
  const root = someSnapshot({ name: parseName('ready') })
  const child = someSnapshot({ parent: root.id, createdAt: 2 })
  snapshots.insert(root)
  snapshots.insert(child)
  environments.insert(someEnvironment({ id: twinB, head: child.id }))
  expect(snapshots.resolve('ready')).toEqual(root)
  expect(snapshots.list(twinA)).toEqual([root, child])
  expect(() => snapshots.remove(root.id)).toThrow(`still needed by ${child.id}`)
  expect(() => snapshots.remove(child.id)).toThrow(`still needed by ${twinB}`)
  environments.remove(twinB)
  snapshots.remove(child.id)
  snapshots.remove(root.id)
  expect(snapshots.list()).toEqual([])
})

test('a snapshot outlives its environment and becomes durable', () => {
  const { environments, snapshots } = temporaryStore()
  environments.insert(someEnvironment({ id: twinA }))
  const snapshot = someSnapshot({ name: parseName('kept') })
  snapshots.insert(snapshot)
  environments.remove(twinA)
  expect(snapshots.update(snapshot.id, { durable: true }).durable).toBe(true)
  expect(snapshots.get(snapshot.id)).toEqual({ ...snapshot, durable: true })
  expect(() => snapshots.insert(someSnapshot({ name: parseName('kept') }))).toThrow(
    `taken by snapshot ${snapshot.id}`,
  )
})

test('documents are parsed once, and those of many other environments push them out', () => {
  const { environments } = temporaryStore()
  const instance = { kind: 'native', pid: 7 } as const
  const first = someEnvironment({ instance })
  environments.insert(first)
  const parsed = environments.get(first.id)?.instance
  expect(environments.get(first.id)?.instance).toBe(parsed)
  for (let i = 0; i < 1000; i += 1) {
    const other = someEnvironment()
    environments.insert(other)
    environments.get(other.id)
    environments.remove(other.id)
  }
  expect(environments.get(first.id)?.instance).not.toBe(parsed)
  expect(environments.get(first.id)).toEqual(first)
})

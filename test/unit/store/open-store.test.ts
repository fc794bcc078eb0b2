import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { BackendError, type ForkpointError, PrerequisiteError } from '../../../src/model/errors.ts'
import { migrations } from '../../../src/store/migrations.ts'
import { openStore } from '../../../src/store/open-store.ts'
import {
  exitCode,
  someEnvironment,
  soon,
  start,
  temporaryHome,
  temporaryStore,
} from './temporary-store.ts'

test('a store opens in an empty place, and keeps its data after it is closed', () => {
  const home = join(temporaryHome(), 'a/new/home')
  const record = someEnvironment()
  {
    using store = openStore(home)
    store.environments.insert(record)
  }
  expect(temporaryStore(home).environments.list()).toEqual([record])
})

test('only the owner can read the store, including its side files', () => {
  const store = temporaryStore()
  store.environments.insert(someEnvironment())
  for (const suffix of ['', '-wal', '-shm']) {
    expect(statSync(databaseOf(store.home) + suffix).mode & 0o077).toBe(0)
  }
})

test('opening an existing store takes hardly any time', () => {
  const home = temporaryHome()
  openStore(home).close()
  const times = Array.from({ length: 20 }, () => {
    const before = performance.now()
    using _store = openStore(home)
    return performance.now() - before
  })
  // The fastest one counts: a busy machine may delay the others.
  expect(Math.min(...times)).toBeLessThan(5)
})

test('many processes may open a new store at the same instant', async () => {
  const home = temporaryHome()
  const at = soon()
  const children = Array.from({ length: 6 }, () => start('open', home, at, '30'))
  expect(await Promise.all(children.map(exitCode))).toEqual(Array(6).fill(0))
})

test('processes that change the same environment never undo each other', async () => {
  const store = temporaryStore()
  const { id } = someEnvironment()
  store.environments.insert(someEnvironment({ id }))
  const at = soon()
  const fields = ['workdir', 'hostname', 'status']
  const children = fields.map((field) => start('change', store.home, at, id, field))
  expect(await Promise.all(children.map(exitCode))).toEqual([0, 0, 0])
})

test('a store of a newer Forkpoint is refused, untouched, with a remedy', () => {
  const home = temporaryHome()
  openStore(home).close()
  const setVersion = (version: number) => {
    using db = new DatabaseSync(databaseOf(home))
    db.exec(`PRAGMA user_version = ${version}`)
  }
  setVersion(migrations.length + 1)
  try {
    openStore(home)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(PrerequisiteError)
    expect((error as Error).message).toContain('newer forkpoint')
    expect((error as ForkpointError).remedy).toContain('upgrade')
  }
  setVersion(migrations.length)
  openStore(home).close()
})

test('a file that is not a database is refused and kept', () => {
  const home = temporaryHome()
  writeFileSync(databaseOf(home), 'this is not a database, but somebody may need it'.repeat(50))
  expect(() => openStore(home)).toThrow(BackendError)
  expect(statSync(databaseOf(home)).size).toBeGreaterThan(1000)
})

test('a home that cannot be made is refused with a remedy', () => {
  const home = temporaryHome()
  writeFileSync(join(home, 'file'), '')
  expect(() => openStore(join(home, 'file/below'))).toThrow(PrerequisiteError)
})

test('changes made together are kept all or not at all', () => {
  const store = temporaryStore()
  const record = someEnvironment()
  expect(() =>
    store.transaction(() => {
      store.environments.insert(record)
      store.environments.update(record.id, { status: 'dead' })
      store.journal.begin('create', record.id)
      throw new Error('changed my mind')
    }),
  ).toThrow('changed my mind')
  expect(store.environments.list()).toEqual([])
  store.transaction(() => store.environments.insert(record))
  expect(store.environments.list()).toEqual([record])
})

test('two stores of one process on one home see each other and outlive each other', () => {
  const home = temporaryHome()
  const one = temporaryStore(home)
  const two = temporaryStore(home)
  const record = someEnvironment()
  one.environments.insert(record)
  one.close()
  expect(two.environments.get(record.id)).toEqual(record)
  two.environments.remove(record.id)
})

test('opening a store again keeps the locks that hold other processes off the first', () => {
  const one = temporaryStore()
  one.environments.insert(someEnvironment())
  const { ino } = statSync(databaseOf(one.home))
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
  expect(locks()).toHaveLength(1)
  temporaryStore(one.home)
  expect(locks()).toHaveLength(1)
})

function databaseOf(home: string): string {
  return join(home, 'db.sqlite')
}

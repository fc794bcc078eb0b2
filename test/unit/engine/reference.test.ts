import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { findReferent } from '../../../src/engine/reference.ts'
import { ConflictError, NotFoundError } from '../../../src/model/errors.ts'
import { parseName } from '../../../src/model/values/names.ts'
import { someEnvironment, temporaryHome, temporaryStore } from '../store/temporary-store.ts'
import { someSnapshot } from './histories.ts'

test('a reference means an environment or a snapshot, by name, id or its beginning', () => {
  const store = temporaryStore()
  const environment = someEnvironment({ name: parseName('web') })
  const snapshot = someSnapshot(1, null, { name: parseName('ready') })
  store.environments.insert(environment)
  store.snapshots.insert(snapshot)
  expect(findReferent(store, 'web')).toMatchObject({ kind: 'environment' })
  expect(findReferent(store, environment.id.slice(0, 8))).toMatchObject({ kind: 'environment' })
  expect(findReferent(store, 'ready')).toMatchObject({ kind: 'snapshot' })
  expect(findReferent(store, snapshot.id)).toMatchObject({ kind: 'snapshot' })
  expect(() => findReferent(store, 'nosuch')).toThrow(NotFoundError)
})

test('a name that means both, in a home of an earlier release, is refused with both ids', () => {
  const home = temporaryHome()
  const store = temporaryStore(home)
  const environment = someEnvironment({ name: parseName('web') })
  const snapshot = someSnapshot(1, null)
  store.environments.insert(environment)
  store.snapshots.insert(snapshot)
  using db = new DatabaseSync(join(home, 'db.sqlite'))
  db.exec("UPDATE snapshots SET name = 'web'")
  expect(() => findReferent(store, 'web')).toThrow(ConflictError)
  expect(() => findReferent(store, 'web')).toThrow(
    expect.objectContaining({ remedy: expect.stringContaining(snapshot.id) }),
  )
  expect(findReferent(store, environment.id)).toMatchObject({ kind: 'environment' })
})

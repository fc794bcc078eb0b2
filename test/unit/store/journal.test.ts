import { expect, test } from 'vitest'
import { ConflictError, NotFoundError } from '../../../src/model/errors.ts'
import { newEnvironmentId, newSnapshotId } from '../../../src/model/ids.ts'
import { firstLine, kill, soon, start, temporaryHome, temporaryStore } from './temporary-store.ts'

test('an operation is on record before, during and after', () => {
  const { journal } = temporaryStore()
  const environmentId = newEnvironmentId()
  const begun = journal.begin('create', environmentId, { from: newSnapshotId() })
  expect(journal.open()).toEqual([begun])
  expect(journal.open(environmentId)).toEqual([begun])
  expect(journal.open(newEnvironmentId())).toEqual([])
  const done = journal.finish(begun)
  expect(journal.list(environmentId)).toEqual([done])
  expect(done.state).toBe('done')
  expect(done.endedAt).toBeGreaterThanOrEqual(begun.startedAt)
})

test('the history of an environment has the report of each operation', () => {
  const { journal } = temporaryStore()
  const environmentId = newEnvironmentId()
  const first = journal.begin('create', environmentId)
  journal.finish(first)
  journal.begin('create', newEnvironmentId())
  const snapshot = newSnapshotId()
  const second = journal.begin('snapshot', environmentId, { snapshot })
  expect(journal.open().map(({ id }) => id)).toContain(second.id)
  journal.finish(second, { totalMs: 12.5 })
  expect(journal.list(environmentId)).toMatchObject([
    { kind: 'create', state: 'done', payload: {} },
    { kind: 'snapshot', state: 'done', payload: { snapshot, totalMs: 12.5 } },
  ])
  expect(journal.open()).toHaveLength(1)
})

test('a failed operation keeps its error', () => {
  const { journal } = temporaryStore()
  const environmentId = newEnvironmentId()
  const operation = journal.begin('create', environmentId)
  journal.fail(operation, new NotFoundError('no image "x"', { remedy: 'pull it' }))
  expect(journal.list(environmentId)).toMatchObject([
    { state: 'failed', error: { code: 'not_found', message: 'no image "x"', remedy: 'pull it' } },
  ])
})

test('a closed operation cannot be closed again', () => {
  const { journal } = temporaryStore()
  const operation = journal.begin('create', null)
  journal.finish(operation)
  expect(() => journal.fail(operation, new Error('late'))).toThrow(ConflictError)
})

test('the operation of a running process is not abandoned, that of a killed one is', async () => {
  const home = temporaryHome()
  const { journal } = temporaryStore(home)
  journal.begin('mine', null)
  const child = start('begin', home, 'theirs')
  const [id] = JSON.parse(await firstLine(child))
  expect(journal.abandoned()).toEqual([])
  await kill(child)
  expect(journal.abandoned()).toMatchObject([{ id, kind: 'theirs', payload: { bytes: 1 } }])
})

test('an abandoned operation is recovered only once, by one of those who try', async () => {
  const home = temporaryHome()
  const victim = start('begin', home, 'create', '200')
  const ids: string[] = JSON.parse(await firstLine(victim))
  await kill(victim)
  const at = soon()
  const recoverers = Array.from({ length: 4 }, () => start('claim', home, at))
  const lines = await Promise.all(recoverers.map(firstLine))
  const recovered = lines.flatMap((line): string[] => JSON.parse(line))
  expect(recovered.sort()).toEqual(ids.sort())
})

test('what was recovered is on record as rolled back', async () => {
  const home = temporaryHome()
  const { journal } = temporaryStore(home)
  const victim = start('begin', home, 'create')
  await firstLine(victim)
  await kill(victim)
  const [found] = journal.abandoned()
  const claimed = found && journal.claim(found)
  if (claimed === undefined) throw new Error('nothing was claimed')
  expect(claimed.owner.pid).toBe(process.pid)
  expect(journal.rolledBack(claimed).state).toBe('rolled_back')
  expect(journal.abandoned()).toEqual([])
})

test('an operation whose recoverer died is abandoned again', async () => {
  const home = temporaryHome()
  const { journal } = temporaryStore(home)
  const victim = start('begin', home, 'create')
  const [id] = JSON.parse(await firstLine(victim))
  await kill(victim)
  const recoverer = start('claim', home)
  await firstLine(recoverer)
  expect(journal.abandoned()).toEqual([])
  await kill(recoverer)
  expect(journal.abandoned()).toMatchObject([{ id, owner: { pid: recoverer.pid } }])
})

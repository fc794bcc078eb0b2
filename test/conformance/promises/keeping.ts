import assert from 'node:assert/strict'
import { at, type BackendPromise, run } from './promise.ts'

/** Environments are paused, and their files are read, kept and compacted. */
export const keeping: readonly BackendPromise[] = [
  {
    title: 'nothing runs while an environment is paused',
    needs: ['pause'],
    asks: async (subject) => (await subject.create()).pause(),
    keeps: async (subject) => {
      const env = await subject.create()
      await env.pause()
      assert.equal((await env.info()).status, 'paused')
      await assert.rejects(env.exec('true'), { code: 'conflict' })
      await env.resume()
      assert.equal(await run(env, 'echo back'), 'back\n')
    },
  },
  {
    title: 'a released environment comes back with its processes',
    needs: ['processes'],
    asks: async (subject) => (await subject.create()).pause({ release: true }),
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'value=kept')
      await env.pause({ release: true })
      assert.equal((await env.info()).status, 'released')
      await env.resume()
      assert.equal(await run(env, 'echo $value'), 'kept\n')
    },
  },
  {
    title: 'file changes are listed from outside',
    needs: ['diff'],
    asks: async (subject) => (await subject.create()).diff(),
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo new > added.txt')
      const { changes } = await env.diff(undefined, { paths: [at(env, 'added.txt')] })
      assert.deepEqual(
        changes.map(({ path, kind }) => ({ path, kind })),
        [{ path: at(env, 'added.txt'), kind: 'added' }],
      )
    },
  },
  {
    title: 'a durable snapshot is on disk when the call returns',
    needs: ['filesystem', 'durable'],
    asks: async (subject) => (await subject.create()).snapshot({ durable: true }),
    keeps: async (subject) => {
      const snapshot = await (await subject.create()).snapshot({ durable: true })
      assert.equal(snapshot.lastInfo.durable, true)
      assert.notEqual(snapshot.lastInfo.sizes.filesBytes, null)
    },
  },
  {
    title: 'a compacted snapshot holds the same files',
    needs: ['compact'],
    asks: async (subject) => (await (await subject.create()).snapshot()).compact(),
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo one > file')
      await env.snapshot()
      await run(env, 'echo two > file')
      const snapshot = await env.snapshot()
      await snapshot.compact()
      const [fork] = await snapshot.fork(1)
      assert.ok(fork)
      assert.equal(await run(fork, 'cat file'), 'two\n')
    },
  },
]

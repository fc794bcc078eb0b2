import assert from 'node:assert/strict'
import { type BackendPromise, run } from './promise.ts'

/** Snapshots are taken, restored and forked. */
export const branching: readonly BackendPromise[] = [
  {
    title: 'a snapshot captures all that the backend can, says what that is, and becomes the head',
    needs: ['filesystem'],
    asks: async (subject) => (await subject.create()).snapshot(),
    keeps: async (subject) => {
      const env = await subject.create()
      const snapshot = await env.snapshot({ name: 'whole' })
      const can = (['filesystem', 'processes', 'terminal'] as const).filter((each) =>
        subject.capabilities.has(each),
      )
      assert.deepEqual([...snapshot.lastInfo.captured].sort(), can.toSorted())
      assert.equal(snapshot.lastInfo.status, 'ready')
      assert.equal((await env.info()).head, snapshot.id)
      assert.equal((await env.snapshot()).parent, snapshot.id)
      assert.equal(await run(env, 'cat given.txt'), 'given\n')
    },
  },
  {
    title: 'a command that runs during a snapshot keeps running',
    needs: ['filesystem'],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'value=before; sleep 1000 & echo $! > pid')
      await env.snapshot()
      assert.equal(
        await run(env, 'echo $value; kill -0 $(cat pid) && echo alive'),
        'before\nalive\n',
      )
    },
  },
  {
    title: 'a snapshot of only files leaves the head alone if the backend captures processes',
    needs: ['filesystem'],
    keeps: async (subject) => {
      const env = await subject.create()
      const snapshot = await env.snapshot({ mode: 'filesystem' })
      assert.deepEqual(snapshot.lastInfo.captured, ['filesystem'])
      assert.equal(
        (await env.info()).head,
        subject.capabilities.has('processes') ? null : snapshot.id,
      )
    },
  },
  {
    title: 'processes continue in every fork of a full snapshot',
    needs: ['processes', 'fork'],
    asks: async (subject) => (await subject.create()).snapshot({ mode: 'full' }),
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'value=kept; sleep 1000 & echo $! > pid')
      const snapshot = await env.snapshot({ mode: 'full' })
      for (const fork of await snapshot.fork(2)) {
        const out = await run(fork, 'echo $value; kill -0 $(cat pid) && echo alive')
        assert.equal(out, 'kept\nalive\n')
      }
    },
  },
  {
    title: 'a restore brings back files, and the environment keeps its id',
    needs: ['filesystem', 'restore'],
    asks: async (subject) => {
      const env = await subject.create()
      await env.restore(await env.snapshot())
    },
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo one > file')
      const first = await env.snapshot()
      await run(env, 'echo two > file; touch more')
      const second = await env.snapshot()
      await env.restore(first)
      assert.equal(await run(env, 'cat file; ls more 2>/dev/null || echo none'), 'one\nnone\n')
      await env.restore(second)
      assert.equal(await run(env, 'cat file; ls more'), 'two\nmore\n')
      assert.equal((await env.info()).head, second.id)
    },
  },
  {
    title: 'forks have their own files',
    needs: ['filesystem', 'fork'],
    asks: async (subject) => (await subject.create()).fork(1),
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo base > file')
      const [a, b] = await env.fork(2, { name: 'try' })
      assert.ok(a && b)
      assert.deepEqual([a.name, b.name], ['try-1', 'try-2'])
      await run(a, 'echo a > file')
      assert.equal(await run(b, 'cat file'), 'base\n')
      assert.equal(await run(env, 'cat file'), 'base\n')
      await a.remove()
      assert.equal(await run(b, 'cat file'), 'base\n')
    },
  },
  {
    title: 'a branch can be promoted into another',
    needs: ['filesystem', 'fork', 'restore'],
    keeps: async (subject) => {
      const env = await subject.create()
      const [winner] = await env.fork(1)
      assert.ok(winner)
      await run(winner, 'echo won > file')
      await env.promote(winner)
      assert.equal(await run(env, 'cat file'), 'won\n')
    },
  },
  {
    title: 'memory is shared between forks on request',
    needs: ['memory-sharing'],
    asks: (subject) => subject.create({ memory: 'share' }),
    keeps: async (subject) => {
      const snapshot = await (await subject.create({ memory: 'share' })).snapshot()
      assert.equal(snapshot.lastInfo.memory?.mode, 'share')
    },
  },
  {
    title: 'every environment has its own hostname',
    needs: ['identity', 'fork'],
    keeps: async (subject) => {
      const env = await subject.create({ name: 'first' })
      const [fork] = await env.fork(1, { name: 'second' })
      assert.ok(fork)
      assert.equal(await run(env, 'cat /etc/hostname'), 'first\n')
      assert.equal(await run(fork, 'cat /etc/hostname'), 'second\n')
    },
  },
  {
    title: 'an environment whose processes have ended is dead, and comes back from its head',
    needs: ['filesystem', 'restore'],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo saved > file')
      await env.snapshot()
      await run(env, 'echo lost > file')
      await subject.crash(env)
      assert.equal((await env.info()).status, 'dead')
      await env.resume()
      assert.equal(await run(env, 'cat file'), 'saved\n')
    },
  },
]

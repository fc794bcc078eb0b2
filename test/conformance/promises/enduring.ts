import assert from 'node:assert/strict'
import type { Environment } from '../../../src/index.ts'
import { ConflictError, NotFoundError } from '../../../src/model/errors.ts'
import { type BackendPromise, run, until } from './promise.ts'

/** Appends what it counts in memory: one line too many or too few shows that file and memory disagree. */
const writer = `
import itertools, time
for number in itertools.count(1):
    with open('numbers', 'a') as file: file.write(f'{number}\\n')
    time.sleep(0.001)
`

/** Prints how many complete lines there are, and whether they are 1, 2, 3 and so on. */
const reader = `
lines = open('numbers').read().split('\\n')[:-1]
print(len(lines), lines == [str(n + 1) for n in range(len(lines))])
`

async function linesOf(env: Environment): Promise<number> {
  const { stdout } = await env.exec(['python3', '-c', reader], { mode: 'process' })
  const [count, agree] = stdout.trim().split(' ')
  assert.equal(agree, 'True', `file and memory disagree after ${count} lines`)
  return Number(count)
}

async function expectGrowing(env: Environment): Promise<void> {
  const before = await linesOf(env)
  await until('the writer continues', async () => (await linesOf(env)) > before + 10)
}

/** Branches keep what they have, whatever others do and whatever fails. */
export const enduring: readonly BackendPromise[] = [
  {
    title: 'a snapshot has file and memory of one instant, to the last line of a writer',
    needs: ['processes', 'fork', 'restore'],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'touch numbers')
      await env.spawn(['python3', '-c', writer], { mode: 'process' })
      await until('the writer has begun', async () => (await linesOf(env)) > 20)
      const snapshot = await env.snapshot()
      const [fork] = await snapshot.fork(1)
      assert.ok(fork)
      for (const each of [env, fork]) await expectGrowing(each)
      await env.restore(snapshot)
      await expectGrowing(env)
    },
  },
  {
    title: 'three forks diverge, and so does a fork of a fork',
    needs: ['filesystem', 'fork'],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'echo base > file')
      const forks = await env.fork(3)
      await Promise.all(forks.map((fork, i) => run(fork, `echo ${i} >> file`)))
      const [first] = forks
      assert.ok(first)
      const [second] = await first.fork(1)
      assert.ok(second)
      await run(second, 'echo deeper >> file')
      const seen = await Promise.all([env, ...forks, second].map((each) => run(each, 'cat file')))
      const expected = ['', '0\n', '1\n', '2\n', '0\ndeeper\n'].map((more) => `base\n${more}`)
      assert.deepEqual(seen, expected)
    },
  },
  {
    title: 'a restored shell has its directory, its exported variables and its functions',
    needs: ['filesystem', 'restore'],
    keeps: async (subject) => {
      const env = await subject.create({ env: { COLOUR: 'blue' } })
      await run(env, 'cd /; export MODE="debug it"; greet() { echo hello $1; }; plain=variable')
      const snapshot = await env.snapshot()
      await run(env, 'cd /tmp; unset MODE; unset -f greet')
      await env.restore(snapshot)
      const said = await run(env, 'echo "$MODE" $COLOUR; greet you; echo [$plain]')
      const keepsShells = snapshot.lastInfo.captured.includes('processes')
      const plain = keepsShells ? '[variable]' : '[]'
      assert.equal(said, `debug it blue\nhello you\n${plain}\n`)
      // The working directory of the tests' own backend is wherever one looks from.
      if (!env.lastInfo.workdir.startsWith('/proc/')) assert.equal(await run(env, 'pwd'), '/\n')
    },
  },
  {
    title: 'names and labels find environments and snapshots',
    needs: ['filesystem', 'fork'],
    keeps: async (subject) => {
      const { forkpoint } = subject
      const env = await subject.create({ name: 'named', labels: { team: 'red' } })
      const snapshot = await env.snapshot({ name: 'mark', labels: { stage: 'tested' } })
      assert.equal((await forkpoint.get('named')).id, env.id)
      assert.equal((await forkpoint.find('mark')).id, snapshot.id)
      const found = await forkpoint.snapshots({ labels: { stage: 'tested' } })
      assert.deepEqual(
        found.map(({ id }) => id),
        [snapshot.id],
      )
      await snapshot.fork(1, { name: 'other', labels: { team: 'blue' } })
      const red = await forkpoint.list({ labels: { team: 'red' } })
      assert.deepEqual(
        red.map(({ name }) => name),
        ['named'],
      )
    },
  },
  {
    title: 'what fails leaves the environment as it was',
    needs: ['filesystem', 'fork', 'restore'],
    keeps: async (subject) => {
      const env = await subject.create({ name: 'steady' })
      await run(env, 'value=kept; echo kept > file')
      const snapshot = await env.snapshot({ name: 'taken' })
      await run(env, 'value=later; echo later > file')
      await assert.rejects(env.snapshot({ name: 'taken' }), ConflictError)
      await assert.rejects(env.restore('nothing'), NotFoundError)
      await assert.rejects(snapshot.fork(1, { name: 'steady' }), ConflictError)
      await assert.rejects(subject.create({ from: 'dir:/nonexistent/directory' }))
      assert.equal(await run(env, 'echo $value; cat file'), 'later\nlater\n')
      assert.equal((await env.info()).head, snapshot.id)
      assert.equal((await subject.forkpoint.list()).length, 1)
    },
  },
  {
    title: 'several calls at the same time do not disturb each other',
    needs: ['filesystem', 'fork'],
    keeps: async (subject) => {
      const [one, two] = await Promise.all([subject.create(), subject.create()])
      assert.ok(one && two)
      await Promise.all([run(one, 'echo one > file'), run(two, 'echo two > file')])
      const [snapshot] = await Promise.all([one.snapshot(), two.snapshot()])
      const forks = await Promise.all([snapshot.fork(1), snapshot.fork(1), two.fork(1)])
      const seen = await Promise.all(forks.flat().map((fork) => run(fork, 'cat file')))
      assert.deepEqual(seen, ['one\n', 'one\n', 'two\n'])
    },
  },
  {
    title: 'a removed environment is gone, its name is free, and its snapshots stay',
    needs: ['filesystem', 'fork'],
    keeps: async (subject) => {
      const env = await subject.create({ name: 'short' })
      await run(env, 'echo kept > file')
      const snapshot = await env.snapshot()
      await env.remove()
      await assert.rejects(subject.forkpoint.get('short'), NotFoundError)
      assert.deepEqual(await subject.remnants(), [])
      const [fork] = await snapshot.fork(1, { name: 'short' })
      assert.ok(fork)
      assert.equal(await run(fork, 'cat file'), 'kept\n')
    },
  },
]

import assert from 'node:assert/strict'
import type { KillPoint } from '../../../src/linux/kill-points.ts'
import { killAt } from '../killed-operation.ts'
import { openSubject, type Subject } from '../subject.ts'
import { type BackendPromise, run } from './promise.ts'

/** A process of its own on the same home. A spare would not pass the steps of a launch. */
function openWithoutSpares({ backend, places }: Subject): Promise<Subject> {
  const settings = { ...places.settings, 'spares.count': 0 }
  return openSubject(backend, { ...places, settings })
}

/** An environment with a snapshot, `gold`, and something newer in its files and its shell. */
async function createVictim(subject: Subject): Promise<void> {
  const env = await subject.create({ name: 'victim' })
  await run(env, 'value=old; echo old > file')
  await env.snapshot({ name: 'gold' })
  await run(env, 'value=new; echo new > file')
}

/** What the next process finds: one life, which is in this state, and no trace of another. */
async function expectVictim(subject: Subject, state: 'old' | 'new'): Promise<void> {
  await using next = await openWithoutSpares(subject)
  const [victim, ...others] = await next.forkpoint.list()
  assert.ok(victim)
  assert.deepEqual(others, [])
  assert.equal(await run(victim, 'cat file'), `${state}\n`)
  const keepsShells = subject.capabilities.has('processes')
  const expected = keepsShells || state === 'new' ? state : ''
  assert.equal(await run(victim, 'echo $value'), `${expected}\n`)
  const { id, instance } = next.ref(victim)
  const traces = await next.remnants()
  assert.ok(traces.length > 0)
  assert.deepEqual(
    traces.filter((trace) => trace.id !== id || !trace.isPartOf(instance)),
    [],
  )
}

async function expectNobody(subject: Subject): Promise<void> {
  await using next = await openWithoutSpares(subject)
  assert.deepEqual(await next.forkpoint.list(), [])
  assert.deepEqual(await next.remnants(), [])
}

/** The backend's last step of a snapshot before it is recorded. */
function takenAt({ capabilities }: Subject): KillPoint {
  return capabilities.has('processes') ? 'snapshot:dumped' : 'snapshot:copied'
}

/** SIGKILL at the steps of every operation: the next process finds the old state, or the operation done. */
export const killing: readonly BackendPromise[] = [
  {
    title: 'a creation that is killed leaves nothing',
    needs: [],
    keeps: async (given) => {
      await using subject = await openWithoutSpares(given)
      for (const point of ['launch:directories', 'launch:alive', 'create:instance'] as const) {
        await killAt(subject, point, 'create', 'made')
        await expectNobody(subject)
      }
    },
  },
  {
    title: 'a snapshot that is killed leaves the environment running',
    needs: ['filesystem'],
    keeps: async (given) => {
      await using subject = await openWithoutSpares(given)
      await createVictim(subject)
      for (const point of ['snapshot:begun', takenAt(subject), 'snapshot:committed'] as const) {
        await killAt(subject, point, 'snapshot', 'victim')
        await expectVictim(subject, 'new')
      }
      await (await subject.forkpoint.get('victim')).snapshot()
    },
  },
  {
    title: 'a fork that is killed leaves only the original',
    needs: ['filesystem', 'fork'],
    keeps: async (given) => {
      await using subject = await openWithoutSpares(given)
      await createVictim(subject)
      for (const point of ['launch:alive', 'fork:alive'] as const) {
        await killAt(subject, point, 'fork', 'forked', 'gold')
        await expectVictim(subject, 'new')
      }
    },
  },
  {
    title: 'a restore that is killed leaves the environment as it was, or as it asked',
    needs: ['filesystem', 'restore'],
    keeps: async (given) => {
      await using subject = await openWithoutSpares(given)
      await createVictim(subject)
      for (const point of ['launch:alive', 'restore:alive'] as const) {
        await killAt(subject, point, 'restore', 'victim', 'gold')
        await expectVictim(subject, 'new')
      }
      await killAt(subject, 'restore:committed', 'restore', 'victim', 'gold')
      await expectVictim(subject, 'old')
    },
  },
  {
    title: 'a removal that is killed is completed',
    needs: [],
    keeps: async (given) => {
      await using subject = await openWithoutSpares(given)
      for (const point of ['remove:recorded', 'remove:forgotten'] as const) {
        await subject.create({ name: 'victim' })
        await killAt(subject, point, 'remove', 'victim')
        await expectNobody(subject)
      }
    },
  },
]

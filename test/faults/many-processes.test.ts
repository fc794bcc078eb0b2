import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { expectNothing } from '../support/remains.ts'
import { ended, runProgram, startProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('many')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

const well = { exitCode: 0, signal: null, stderr: '' }

describe('several Forkpoint processes on one store', () => {
  test('make and remove environments at the same time', async () => {
    const churns = ['a', 'b', 'c'].map((prefix) => runProgram(home, ['churn', prefix, '6']))
    expect(await Promise.all(churns)).toEqual([well, well, well])
    await expectNothing(home)
  })

  test('can be opened and listed at the same time', async () => {
    const churn = runProgram(home, ['churn', 'busy', '10'])
    let isOver = false
    void churn.then(() => {
      isOver = true
    })
    while (!isOver) {
      await using fp = await home.open()
      await fp.list()
      await sleep(5)
    }
    expect(await churn).toEqual(well)
    await expectNothing(home)
  })

  test('do not disturb a doctor that probes the machine', async () => {
    const [examined, churned] = await Promise.all([
      runProgram(home, ['doctor']),
      runProgram(home, ['churn', 'patient', '12']),
    ])
    expect([examined, churned]).toEqual([well, well])
    await expectNothing(home)
  })

  test('are killed at any moment without harm', async () => {
    for (let round = 0; round < 8; round += 1) {
      const child = startProgram(home, ['churn', `round-${round}`, '50'])
      const end = ended(child)
      // Starting takes about 400 ms, and a turn of making and removing 250.
      await sleep(400 + Math.random() * 500)
      child.kill('SIGKILL')
      await end
      await using fp = await home.open()
      for (const env of await fp.list()) {
        expect((await env.exec('echo whole')).stdout).toBe('whole\n')
        await env.remove()
      }
      await expectNothing(home)
    }
  })
})

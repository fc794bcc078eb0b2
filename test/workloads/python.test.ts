import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { startServer } from '../support/workloads/http-server.ts'

test('a Python server with a thread keeps serving from its memory', async () => {
  const server = startServer('/usr/bin/python3', 'python-server.py')
  await branchThreeWays({
    start: server.start,
    check: async (env) => {
      const before = await server.state(env)
      expect(before).toMatchObject({ answer: 42, threads: 2 })
      // The thread continues to count.
      await expect.poll(async () => (await server.state(env)).ticks).toBeGreaterThan(before.ticks)
    },
    mark: server.mark,
    marks: async (env) => (await server.state(env)).marks,
  })
})

import { expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { request, startServer } from '../support/workloads/http-server.ts'
import { run } from '../support/workloads/run.ts'

const server = startServer('/usr/bin/node', 'node-server.cjs')
/** One was written in the environment, the other comes from the host's own files. */
const files = { upper: '/root/watched/upper', lower: '/etc/debian_version' }

/** What the watches of the server saw, by the path that is watched. */
async function seen(env: Environment): Promise<Record<string, string[]>> {
  return JSON.parse(await request(env, '/seen'))
}

test('a Node server keeps its memory, and its watches fire only for changes in its own branch', () =>
  branchThreeWays({
    start: async (env) => {
      await run(env, `mkdir /root/watched; echo made inside > ${files.upper}`)
      await server.start(env)
    },
    check: async (env) => {
      const before = await server.state(env)
      expect(before.answer).toBe(42)
      await expect.poll(async () => (await server.state(env)).ticks).toBeGreaterThan(before.ticks)
    },
    mark: async (env, word) => {
      for (const file of Object.values(files)) await run(env, `echo ${word} >> ${file}`)
      await run(env, `touch /root/watched/${word} /usr/local/share/${word}`)
    },
    marks: async (env) => {
      const [first = [], ...others] = Object.values(await seen(env))
      expect(others.length).toBe(3)
      for (const other of others) expect(other).toEqual(first)
      return first
    },
  }))

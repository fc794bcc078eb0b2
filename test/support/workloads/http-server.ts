import { expect } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { bring, run } from './run.ts'

export const port = 8000

/** What the servers here report about themselves. */
export interface ServerState {
  readonly answer: number
  readonly ticks: number
  readonly marks: string[]
}

/** What `path` of a server inside answers, over a connection from the host. */
export async function request(env: Environment, path: string): Promise<string> {
  await using web = await env.ports.forward(port)
  const response = await fetch(`http://127.0.0.1:${web.port}${path}`, {
    headers: { connection: 'close' },
  })
  return await response.text()
}

/** A program of this directory that serves its state, and takes marks. */
export function startServer(interpreter: string, program: string) {
  return {
    start: async (env: Environment): Promise<void> => {
      await run(env, `${interpreter} ${await bring(env, program)} > /root/server.log 2>&1 &`)
      const log = async () => (await env.exec('cat /root/server.log')).stdout
      await expect.poll(log, { timeout: 60_000 }).toContain('listening')
    },
    state: async (env: Environment): Promise<ServerState> => JSON.parse(await request(env, '/')),
    mark: async (env: Environment, word: string): Promise<void> => {
      expect(await request(env, `/mark/${word}`)).toBe('marked')
    },
  }
}

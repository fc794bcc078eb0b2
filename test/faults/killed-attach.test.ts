// SIGKILL at the steps of an attach to a container. The container is as it was, and nothing of ours is noted.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openClient } from '../../src/backends/containers/engine/client.ts'
import { docker, podmanCriu } from '../../src/backends/containers/engine/engine-kind.ts'
import { importImage } from '../support/engines/engine-images.ts'
import type { EngineProcess } from '../support/engines/engine-process.ts'
import { removeForeign, startForeign, traceOf } from '../support/engines/foreign-container.ts'
import { startDocker } from '../support/engines/start-docker.ts'
import { startPodman } from '../support/engines/start-podman.ts'
import { killWalks } from '../support/kill-walks.ts'
import { patiently } from '../support/patiently.ts'
import { runProgram } from '../support/run-program.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const engines = [
  { kind: docker, start: startDocker },
  { kind: podmanCriu, start: startPodman },
] as const

describe.each(engines)('$kind.name', ({ kind, start }) => {
  const home = new TestHome(kind.name)
  const variable = `FORKPOINT_${kind.engine.toUpperCase()}_SOCKET`
  let engine: EngineProcess
  beforeAll(async () => {
    engine = await start()
    process.env[variable] = engine.socket
    using directory = new TemporaryDirectory()
    await importImage(kind, engine, directory.path)
  })
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    await engine[Symbol.asyncDispose]()
    delete process.env[variable]
  })

  const notes = () => {
    const directory = join(home.path, 'containers', `${kind.name}-guests`)
    return existsSync(directory) ? readdirSync(directory) : []
  }

  test('an attach that is killed leaves the container as it was', async () => {
    const client = openClient(kind, { socketPath: engine.socket })
    const foreign = await startForeign(client, 'theirs')
    const before = await traceOf(client, foreign)
    for (const point of killWalks.attach) {
      const words = ['attach', 'other', kind.name, 'theirs']
      const ended = await runProgram(home, words, { FORKPOINT_KILL_AT: point })
      expect(ended, ended.stderr).toMatchObject({ signal: 'SIGKILL' })
      await using fp = await home.open()
      const left = await fp.list()
      expect(left).toHaveLength(point === 'attach:finished' ? 1 : 0)
      for (const env of left) {
        expect((await env.exec('cat /home/app/mine')).stdout).toBe('mine\n')
        await env.remove()
      }
      await expect.poll(() => traceOf(client, foreign), patiently).toEqual(before)
      expect(notes()).toEqual([])
    }
    await removeForeign(client, foreign)
  })
})

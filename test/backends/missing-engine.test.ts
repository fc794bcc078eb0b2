// An engine that does not run hinders nobody who needs another one.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { PrerequisiteError } from '../../src/index.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('missing-engine')
afterAll(() => home[Symbol.asyncDispose]())

test('native environments are made, forked and removed while Docker is away', async () => {
  using files = new TemporaryDirectory()
  const context = files.file('context')
  mkdirSync(context)
  // Larger than a pipe: whoever packs it must end, too, when nobody takes it.
  writeFileSync(join(context, 'Dockerfile'), 'FROM scratch\n')
  writeFileSync(join(context, 'large'), Buffer.alloc(1 << 20))
  const settings = { 'docker.socket': files.file('docker.sock') }
  await using fp = await home.open(settings)
  const from = `dockerfile:${context}`
  await expect(fp.create({ backend: 'docker', from })).rejects.toBeInstanceOf(PrerequisiteError)
  const env = await fp.create({ backend: 'native' })
  const [fork] = await env.fork(1)
  expect(await fp.list()).toHaveLength(2)
  await fork?.remove({ force: true })
  await env.remove({ force: true })
  await using again = await home.open(settings)
  expect(await again.list()).toEqual([])
})

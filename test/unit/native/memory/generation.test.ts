import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  currentHome,
  dropStale,
  makeCurrent,
  nextHome,
} from '../../../../src/criu/memory/generation.ts'
import { Spawner } from '../../../../src/linux/spawner.ts'
import { toolsOf } from '../../../../src/linux/tools.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'

test('images are replaced all at once, and old ones are removed', async () => {
  using spawner = new Spawner()
  const tools = toolsOf(spawner)
  using temporary = new TemporaryDirectory()
  const dir = temporary.path
  for (const name of ['images', 'pages', '2']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'manifest.json'), '{}')
  expect(await currentHome(dir)).toBe(dir)
  expect(await nextHome(dir)).toEqual({ number: 2, path: join(dir, '2') })

  // One that was not completed.
  await dropStale(tools, dir)
  expect(readdirSync(dir).toSorted()).toEqual(['images', 'manifest.json', 'pages'])

  mkdirSync(join(dir, '2'))
  await makeCurrent(tools, dir, 2)
  expect(await currentHome(dir)).toBe(join(dir, '2'))
  expect(await nextHome(dir)).toEqual({ number: 3, path: join(dir, '3') })
  await dropStale(tools, dir)
  expect(readdirSync(dir).toSorted()).toEqual(['2', 'current'])

  mkdirSync(join(dir, '3'))
  await makeCurrent(tools, dir, 3)
  await dropStale(tools, dir)
  expect(readdirSync(dir).toSorted()).toEqual(['3', 'current'])
})

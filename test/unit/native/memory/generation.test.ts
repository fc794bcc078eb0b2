import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  currentHome,
  dropStale,
  makeCurrent,
  nextHome,
} from '../../../../src/criu/memory/generation.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'

test('images are exchanged as a whole, and what is not current goes', async () => {
  using temporary = new TemporaryDirectory()
  const dir = temporary.path
  for (const name of ['images', 'pages', '2']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'manifest.json'), '{}')
  expect(await currentHome(dir)).toBe(dir)
  expect(await nextHome(dir)).toEqual({ number: 2, path: join(dir, '2') })

  // One that was not finished.
  await dropStale(dir)
  expect(readdirSync(dir).toSorted()).toEqual(['images', 'manifest.json', 'pages'])

  mkdirSync(join(dir, '2'))
  await makeCurrent(dir, 2)
  expect(await currentHome(dir)).toBe(join(dir, '2'))
  expect(await nextHome(dir)).toEqual({ number: 3, path: join(dir, '3') })
  await dropStale(dir)
  expect(readdirSync(dir).toSorted()).toEqual(['2', 'current'])

  mkdirSync(join(dir, '3'))
  await makeCurrent(dir, 3)
  await dropStale(dir)
  expect(readdirSync(dir).toSorted()).toEqual(['3', 'current'])
})

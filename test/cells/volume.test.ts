// The file that holds the data of environments if the home is on the root file system.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('volume')
afterAll(() => home[Symbol.asyncDispose]())

const places = placesOf(home.path)

/** Why a volume in this home would be cached twice, whatever we do; null if not. */
function whyCachedTwice(): string | null {
  if (statSync(home.path).dev !== statSync('/').dev) return 'the home is on its own file system'
  const file = join(home.path, 'direct')
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_WRONLY | constants.O_DIRECT))
    return null
  } catch (error) {
    return `the file system of the home has no direct I/O: ${(error as Error).message}`
  } finally {
    rmSync(file, { force: true })
  }
}

test('the volume is cached only once, and its loop device is removed with it', async (context) => {
  const why = whyCachedTwice()
  if (why !== null) context.skip(why)
  await using fp = await home.open()
  const env = await fp.create()
  const columns = ['--noheadings', '--output', 'DIO,AUTOCLEAR', '--associated', places.volume]
  const found = execFileSync('losetup', columns, { encoding: 'utf8' })
  expect(found.trim().split(/\s+/)).toEqual(['1', '1'])
  await env.remove()
  await expectNothing(home)
})

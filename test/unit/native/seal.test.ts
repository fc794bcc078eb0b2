import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seal, unseal } from '../../../src/backends/native/overlay/seal.ts'
import { pathExists } from '../../../src/linux/files/path-exists.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

test('what was sealed can be put back', async () => {
  using dir = new TemporaryDirectory()
  const [upper, layer] = [join(dir.path, 'upper'), join(dir.path, 'layer')]
  mkdirSync(upper)
  writeFileSync(join(upper, 'file'), 'content')
  await seal(upper, layer)
  expect(existsSync(join(upper, 'file'))).toBe(false)
  await unseal(layer, upper)
  expect(readFileSync(join(upper, 'file'), 'utf8')).toBe('content')
  await unseal(layer, upper)
})

test('an unreadable layer does not count as a missing one', async () => {
  const unreadable = `/tmp/${'x'.repeat(300)}`
  await expect(unseal(unreadable, '/tmp')).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
  await expect(pathExists(unreadable)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
})

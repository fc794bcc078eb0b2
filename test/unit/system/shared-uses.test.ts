import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noteUses, sweepShared } from '../../../src/linux/lives/shared-uses.ts'
import { Spawner } from '../../../src/linux/spawner.ts'
import { toolsOf } from '../../../src/linux/tools.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

/** No process has this pid: it is larger than the kernel's largest. */
const noPid = 4_194_305

test('what lives and snapshots share goes with the last of them that needs it', async () => {
  using directory = new TemporaryDirectory()
  using spawner = new Spawner()
  const shared = directory.file('shared')
  const made = [`mask-2.${process.pid}-x.new`, `mask-3.${noPid}-x.new`]
  for (const name of ['agent-1', 'agent-2', 'mask-1', ...made]) {
    mkdirSync(join(shared, name), { recursive: true })
  }
  const [old, recent, early] = ['old', 'recent', 'early'].map((name) => directory.file(name))
  if (old === undefined || recent === undefined || early === undefined) throw new Error('no names')
  for (const holder of [old, recent, early]) mkdirSync(holder)
  await noteUses(old, [join(shared, 'agent-1/agent'), join(shared, 'mask-1')])
  await noteUses(recent, [join(shared, 'agent-2/agent')])
  const sweep = (holders: readonly string[]) => sweepShared(toolsOf(spawner), shared, holders)
  const left = () => readdirSync(shared).sort()

  // One that has noted nothing yet, or was made by an earlier version, may need any of them.
  await sweep([recent, early])
  expect(left()).toHaveLength(5)
  await sweep([old, recent])
  expect(left()).toEqual(['agent-1', 'agent-2', 'mask-1', made[0]])
  rmSync(old, { recursive: true })
  await sweep([old, recent])
  expect(left()).toEqual(['agent-2', made[0]])
})

import { expect, test } from 'vitest'
import { fanIn } from '../../../src/backends/native/overlay/squash/plan.ts'
import { lastDepth, layerLists } from '../../support/layer-lists.ts'
import { expectNothing } from '../../support/remains.ts'
import { CliHome } from './cli-home.ts'

test('compact squashes the chain of a snapshot, and says what it did', async () => {
  await using cli = new CliHome({ volume: 'ext4' })
  await cli.must('create', '--name', 'web')
  for (const name of ['a', 'b', 'c']) {
    await cli.must('exec', 'web', '--', `X=${name}; echo ${name} > /root/${name}`)
    await cli.must('snapshot', 'web', '--name', name)
  }
  expect(await cli.must('compact', 'b')).toMatch(/^squashed 2 layers of b into one of \d.* KiB\n$/)
  // What builds on it has the shorter list, too.
  expect(layerLists(cli.home).map(({ length }) => length)).toEqual([1, 1, 2])
  expect((await cli.json('compact')).document).toMatchObject({
    compacted: [{ name: 'c', layersBefore: 2, layersAfter: 1 }],
  })
  expect(await cli.must('compact', 'c')).toBe('c has nothing to compact\n')
  for (const name of ['a', 'b', 'c']) {
    await cli.must('restore', 'web', name)
    const files = await cli.must('exec', 'web', '--', 'echo $X; ls /root')
    expect(files.trim().split('\n').at(-1)).toBe(name)
  }
  expect((await cli.run(['compact', 'nothing'])).exitCode).toBe(3)
  await cli.must('rm', 'web')
  await cli.must('prune', '--force')
  await expectNothing(cli.home)
})

test('a chain that grows by one command after another is squashed on the way', async () => {
  await using cli = new CliHome({ volume: 'ext4' })
  await cli.must('create', '--name', 'web')
  // A command does not wait long for it, so on a busy machine the next one has to start over.
  for (let i = 1; i <= fanIn || (lastDepth(cli.home) >= fanIn && i < 2 * fanIn); i += 1) {
    await cli.must('exec', 'web', '--', `echo ${i} > /root/file`)
    await cli.must('snapshot', 'web', '--name', `s${i}`)
  }
  expect(lastDepth(cli.home)).toBe(1)
  await cli.must('restore', 'web', 's3')
  expect(await cli.must('exec', 'web', '--', 'cat /root/file')).toBe('3\n')
})

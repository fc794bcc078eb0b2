import { describe, expect, test } from 'vitest'
import { expectNothing } from '../../support/remains.ts'
import { CliHome } from './cli-home.ts'

describe('removing snapshots', () => {
  test('is refused while an environment continues from them, and the last one leaves nothing behind', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await cli.must('snapshot', 'web', '--name', 'a')
    await cli.must('snapshot', 'web', '--name', 'b')
    const refused = await cli.run(['rm-snapshot', 'b'])
    expect(refused).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('environment web'),
    })
    await cli.must('snapshot', 'web', '--name', 'c')
    await cli.must('rm-snapshot', 'b')
    expect((await cli.json('snapshots')).document).toMatchObject([
      { name: 'a', parent: null },
      { name: 'c', parent: expect.stringMatching(/^s/) },
    ])
    await cli.must('restore', 'web', 'a')
    await cli.must('rm', 'web')
    const { document } = await cli.json('rm-snapshot', 'a', '--cascade')
    expect(document.removed).toMatchObject([{ name: 'c' }, { name: 'a' }])
    await expectNothing(cli.home)
  })

  test('prune shows why each one stays, then removes the others', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await cli.must('snapshot', 'web', '--name', 'gold')
    const lost = (await cli.must('snapshot', 'web', '-q')).trim()
    await cli.must('restore', 'web', 'gold')
    const plan = await cli.must('prune', '--keep-named', '--dry-run')
    expect(plan).toMatch(/remove\ngold .* keep +environment web continues from it\n$/)
    expect((await cli.json('prune', '--older-than', '1h')).document.removed).toEqual([])
    expect((await cli.json('prune', '--keep-last', '2')).document.removed).toEqual([])
    expect((await cli.json('prune', '--keep-named')).document).toMatchObject({
      removed: [{ id: lost }],
      kept: [{ name: 'gold', reason: { kind: 'head' } }],
    })
    expect(await cli.must('prune')).toBe('nothing to remove\n')
    expect(await cli.must('exec', 'web', '--', 'echo alive')).toBe('alive\n')
  })
})

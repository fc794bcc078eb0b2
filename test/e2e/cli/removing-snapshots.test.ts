import { describe, expect, test } from 'vitest'
import { expectNothing } from '../../support/remains.ts'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

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

  test('one task cleans up after itself, and leaves what others have in the same home', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'ours', '--label', 'task=42')
    await cli.must('create', '--name', 'theirs')
    await cli.must('snapshot', 'theirs', '--name', 'gold')
    await cli.must('snapshot', 'theirs')
    await cli.must('snapshot', 'ours', '--name', 'start', '--label', 'stage=first')
    await cli.must('fork', 'ours', '--name', 'try')
    await cli.must('promote', 'try', 'ours')
    await cli.must('pause', 'try', '--release')

    const { document: all } = await cli.json('snapshots', '--label', 'task=42')
    expect(all).toMatchObject([
      { name: 'start', by: 'user', labels: { task: '42', stage: 'first' } },
      { name: null, by: 'fork', labels: { task: '42' } },
      { name: null, by: 'promote', labels: { task: '42' } },
      { name: null, by: 'pause', labels: { task: '42' } },
    ])
    expect((await cli.json('ls', '--label', 'task=42')).document).toMatchObject([
      { name: 'ours' },
      { name: 'try' },
    ])

    await cli.must('rename', all[1].id, 'branched')
    expect((await cli.run(['rename', 'branched', 'theirs'])).stderr).toContain('is taken by')
    const clash = await cli.run(['snapshot', 'theirs', '--name', 'theirs'])
    expect(clash).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('environment e') })
    expect(await cli.must('rm-snapshot', '--label', 'stage=first')).toMatch(/^removed start \(s/)
    expect(await cli.must('rm', '--label', 'task=42')).toMatch(
      /^removed ours .*\nremoved try .*\n$/,
    )
    const { document } = await cli.json('prune', '--label', 'task=42')
    expect(document).toMatchObject({ kept: [] })
    expect(document.removed).toHaveLength(3)
    expect(document.removed).toContainEqual({ id: all[1].id, name: 'branched' })
    expect((await cli.json('snapshots')).document).toHaveLength(2)
    expect(await cli.must('exec', 'theirs', '--', 'echo alive')).toBe('alive\n')

    const refused = await cli.run(['prune'])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toMatch(/some that have a name: gold[\s\S]*--keep-named[\s\S]*--force/)
    await using terminal = await TmuxTerminal.start({ ...cli.env })
    await terminal.line('forkpoint prune')
    await terminal.shows(/Continue\? \[y\/N\] $/)
    await terminal.line('n')
    await terminal.shows(/remedy: .*--force[\s\S]*host> $/)
    expect((await cli.json('snapshots')).document).toHaveLength(2)
    expect(await cli.must('prune', '--force')).toMatch(/^removed gold \(s\w+\)\n$/)
  })
})

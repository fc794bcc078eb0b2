// SIGKILL while snapshots are removed: the removal is completed, and the others can still be restored.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { CliHome } from '../e2e/cli/cli-home.ts'
import { killWalks } from '../support/kill-walks.ts'
import { expectNothing } from '../support/remains.ts'
import { asking, rewritingProgram, startingIt } from '../support/rewriting-program.ts'

describe('a prune that is killed', () => {
  let cli = new CliHome()
  afterEach(async () => {
    await cli[Symbol.asyncDispose]()
    cli = new CliHome()
  })

  test.each(killWalks.prune)('at %s is completed by the next process', async (point) => {
    await cli.must('create', '--name', 'web')
    await cli.must('exec', 'web', '--', 'X=kept')
    await cli.must('snapshot', 'web', '--name', 'gold')
    await cli.must('snapshot', 'web')
    await cli.must('snapshot', 'web')
    await cli.must('restore', 'web', 'gold')
    const killed = await cli.run(['prune', '--keep-named'], { env: { FORKPOINT_KILL_AT: point } })
    expect(killed.signal).toBe('SIGKILL')

    const { document } = await cli.json('snapshots')
    expect(document).toMatchObject([{ name: 'gold', status: 'ready' }])
    await cli.must('restore', 'web', 'gold')
    expect(await cli.must('exec', 'web', '--', 'echo $X')).toBe('kept\n')
    await cli.must('rm', 'web')
    await cli.must('rm-snapshot', 'gold')
    await expectNothing(cli.home)
  })

  test.each(killWalks.reclaim)('at %s, in the middle of a line, loses no memory', async (point) => {
    await cli.must('create', '--name', 'web')
    await cli.run(['exec', 'web', '--', 'cat > /root/rewrite.py'], {
      stdin: Buffer.from(rewritingProgram),
    })
    await cli.must('exec', 'web', '--', startingIt(8))
    await cli.must('snapshot', 'web')
    await cli.must('exec', 'web', '--', asking('rewrite 1'))
    await cli.must('snapshot', 'web')
    const sum = await cli.must('exec', 'web', '--', asking('rewrite 2'))
    await cli.must('snapshot', 'web', '--name', 'last')
    const killed = await cli.run(['prune', '--keep-last', '1'], {
      env: { FORKPOINT_KILL_AT: point },
    })
    expect(killed.signal).toBe('SIGKILL')
    for (const of of ['forked', 'web']) {
      if (of === 'forked') await cli.must('fork', 'last', '--name', of)
      else await cli.must('restore', of, 'last')
      expect(await cli.must('exec', of, '--', asking('sum'))).toBe(sum)
    }
    await cli.must('rm', 'web', 'forked')
    expect((await cli.json('snapshots')).document).toMatchObject([{ name: 'last', parent: null }])
    await cli.must('rm-snapshot', 'last')
    await expectNothing(cli.home)
  })

  test('and whose recovery is killed too is completed by the one after', async () => {
    await cli.must('create', '--name', 'web')
    for (const name of ['a', 'b', 'c']) await cli.must('snapshot', 'web', '--name', name)
    await cli.must('rm', 'web')
    const args = ['rm-snapshot', 'a', '--cascade']
    await cli.run(args, { env: { FORKPOINT_KILL_AT: 'prune:recorded' } })
    const second = await cli.run(['ls'], { env: { FORKPOINT_KILL_AT: 'prune:forgotten' } })
    expect(second.signal).toBe('SIGKILL')
    expect((await cli.json('snapshots')).document).toEqual([])
    await expectNothing(cli.home)
  })

  test('and cannot be completed does not disturb other commands', async () => {
    await cli.must('create', '--name', 'web')
    const { document } = await cli.json('snapshot', 'web', '--name', 'a')
    await cli.must('rm', 'web')
    const file = join(placesOf(cli.home.path).snapshot(document.id), 'immovable')
    writeFileSync(file, '')
    execFileSync('chattr', ['+i', file])
    try {
      await cli.run(['prune', '--force'], { env: { FORKPOINT_KILL_AT: 'prune:recorded' } })
      expect((await cli.json('snapshots')).document).toMatchObject([
        { name: 'a', status: 'failed' },
      ])
      expect((await cli.run(['fork', 'a'])).exitCode).toBe(4)
    } finally {
      execFileSync('chattr', ['-i', file])
    }
    await cli.must('prune', '--force')
    await expectNothing(cli.home)
  })
})

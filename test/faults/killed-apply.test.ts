// SIGKILL at every step of an apply. The next process to open the store puts the directory of the
// host back as it was, or finds it complete.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CliHome } from '../e2e/cli/cli-home.ts'
import { killWalks } from '../support/kill-walks.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'

describe('an apply that is killed', () => {
  let cli: CliHome
  let files: TemporaryDirectory
  const target = () => files.file('w')

  beforeAll(async () => {
    cli = new CliHome()
    files = new TemporaryDirectory()
    mkdirSync(target())
    for (const name of ['kept', 'replaced', 'removed']) writeFileSync(files.file(`w/${name}`), name)
    await cli.must('create', '--name', 'web', '--from', `dir:${target()}`)
    await cli.must(
      'exec',
      'web',
      '--',
      'rm removed; echo new > replaced; mkdir -p d/e; echo > d/e/f',
    )
  })
  afterAll(async () => {
    await cli[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  const kill = (point: string) =>
    cli.run(['apply', 'web', target()], { env: { FORKPOINT_KILL_AT: point } })
  const plans = () => readdirSync(join(cli.home.path, 'applies'))

  test.each(killWalks.apply.filter((point) => point !== 'apply:done'))(
    'at %s is undone by the next command',
    async (point) => {
      expect(await kill(point)).toMatchObject({ signal: 'SIGKILL' })
      await cli.must('ls')
      expect(readdirSync(target()).sort()).toEqual(['kept', 'removed', 'replaced'])
      expect(readFileSync(files.file('w/replaced'), 'utf8')).toBe('replaced')
      if (point !== 'apply:begun' && point !== 'apply:staged') expect(plans()).toEqual([])
    },
  )

  test('at apply:done has applied everything, and leaves nothing else behind', async () => {
    expect(await kill('apply:done')).toMatchObject({ signal: 'SIGKILL' })
    await cli.must('ls')
    expect(readdirSync(target()).sort()).toEqual(['d', 'kept', 'replaced'])
    expect(readFileSync(files.file('w/replaced'), 'utf8')).toBe('new\n')
    expect(plans()).toEqual([])
  })

  test('in a directory that no longer exists does not disturb other commands', async () => {
    await cli.must('exec', 'web', '--', 'echo more > more')
    expect(await kill('apply:taken')).toMatchObject({ signal: 'SIGKILL' })
    files[Symbol.dispose]()
    await cli.must('ls')
    const { document } = await cli.json('doctor')
    expect(JSON.stringify(document)).toContain(target())
  })
})

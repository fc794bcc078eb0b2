import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { expectNothing } from '../../support/remains.ts'
import { CliHome, finished } from './cli-home.ts'

describe('quickstart', () => {
  test('shows the whole tour in under a minute and leaves nothing behind', async () => {
    await using cli = new CliHome()
    const began = performance.now()
    const { exitCode, stdout, stderr } = await cli.run(['quickstart'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(performance.now() - began).toBeLessThan(60_000)
    const commands = Array.from(stdout.matchAll(/^ {4}\$ forkpoint (\S+)/gm), ([, verb]) => verb)
    expect([...new Set(commands)]).toEqual([
      'create',
      'exec',
      'snapshot',
      'fork',
      'diff',
      'promote',
      'restore',
      'tree',
      'rm',
      'rm-snapshot',
    ])
    // The server's memory is in the snapshot: every branch continues from the first visit.
    expect(stdout.match(/visit number 2$/gm)).toHaveLength(4)
    await expectNothing(cli.home)
    expect(await cli.must('snapshots', '-q')).toBe('')
  })

  test('--json reports what was done and how long it took', async () => {
    await using cli = new CliHome()
    const { document, exitCode } = await cli.json('quickstart')
    expect(exitCode).toBe(0)
    expect(document).toMatchObject({ ok: true })
    expect(
      document.timings.map(({ operation }: { operation: string }) => operation.trim()),
    ).toEqual(['create', 'snapshot', 'pause', 'fork', 'promote', 'restore'])
  })

  test('leaves the environments and snapshots of others alone', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'demo')
    await cli.must('snapshot', 'demo', '--name', 'demo-ready')
    expect((await cli.run(['quickstart'])).exitCode).toBe(0)
    expect((await cli.json('ls')).document).toMatchObject([{ name: 'demo', status: 'running' }])
    expect((await cli.json('snapshots')).document).toMatchObject([{ name: 'demo-ready' }])
  })

  test('that is interrupted cleans up, too', async () => {
    await using cli = new CliHome()
    const child = cli.start(['quickstart'])
    const ended = finished(child)
    let text = ''
    while (!text.includes('forked ')) {
      const [chunk] = await once(child.stdout ?? child, 'data')
      text += chunk
    }
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130, stderr: '\ninterrupted; cleaning up\n' })
    expect(await cli.must('ls', '-q')).toBe('')
    expect(await cli.must('snapshots', '-q')).toBe('')
    await expectNothing(cli.home)
  })
})

import { expect, test } from 'vitest'
import { expectNothing } from '../../support/remains.ts'
import { CliHome } from './cli-home.ts'

/** A socket in a directory that was moved, and is a file by now: it can be dumped, but not restored. */
const lost = `python3 -c "
import os, socket, time
os.mkdir('/root/a')
s = socket.socket(socket.AF_UNIX); s.bind('/root/a/sock'); s.listen()
os.rename('/root/a', '/root/b')
open('/root/a', 'w').close()
time.sleep(1000)" & while ! test -f /root/a; do sleep 0.1; done`

test('a snapshot is proven on request, and the log of one that fails can be printed', async () => {
  await using cli = new CliHome()
  await cli.must('create', '--name', 'web')
  await cli.must('snapshot', 'web', '--name', 'good', '--prove')
  expect((await cli.json('snapshots')).document).toMatchObject([{ name: 'good', proof: 'proven' }])
  expect(await cli.must('prove', 'good')).toMatch(/^good \(s\w+\) can be restored\n$/)
  expect(await cli.must('log', '--criu')).toBe('no log of a failure is kept\n')
  await cli.must('exec', 'web', '--', lost)
  await cli.must('snapshot', 'web', '--name', 'bad')
  const failed = await cli.run(['prove', 'bad'])
  expect(failed.exitCode).toBe(4)
  expect(failed.stderr).toContain('name /root/a/sock')
  expect(await cli.must('snapshots')).toMatch(/bad .* failed .* failed/)
  expect(await cli.must('log', '--criu')).toContain('root/a/sock')
  const { document } = await cli.json('log', '--criu')
  expect(document).toMatchObject([{ doing: 'restore', name: expect.any(String) }, {}])
  expect((await cli.run(['log', '--criu', 'nothing'])).exitCode).toBe(3)
  expect((await cli.run(['log'])).exitCode).toBe(2)
  for (const words of [
    ['restore', 'web', 'good'],
    ['promote', 'good', 'web'],
    ['rm', 'web'],
  ]) {
    const refused = await cli.run(words)
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toContain('web is the only copy of its state')
  }
  await cli.must('restore', 'web', 'good', '--force')
  await cli.must('exec', 'web', '--', lost)
  await cli.must('snapshot', 'web')
  await cli.must('rm', 'web', '--force')
  await cli.must('prune', '--force')
  await expectNothing(cli.home)
})

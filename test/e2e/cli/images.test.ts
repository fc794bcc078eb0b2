import { mkdirSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { layoutFiles, rootfsLayer, writeLayout } from '../../support/images/image-files.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome } from './cli-home.ts'

const cli = new CliHome()
const files = new TemporaryDirectory()
afterAll(async () => {
  await cli[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})

mkdirSync(files.file('image'))
const config = { Entrypoint: ['/bin/sh', '-c', 'echo started > /started'], Env: ['MODE=task'] }
writeLayout(files.file('image'), layoutFiles([rootfsLayer(files.path)], config))
const from = `oci:${files.file('image')}`

describe('images on the command line', () => {
  test('an environment starts from one, and its entry point with it', async () => {
    await cli.must('create', '--from', from, '--name', 'web', '--start')
    const script = 'until [ -e /started ]; do sleep 0.05; done; cat /started; echo $MODE'
    expect(await cli.must('exec', 'web', '--', script)).toBe('started\ntask\n')
    expect((await cli.json('ls')).document).toMatchObject([
      { source: { kind: 'oci' }, image: { entrypoint: config.Entrypoint, user: null } },
    ])
  })

  test('usage shows it, and prune removes it once nothing uses it', async () => {
    expect(await cli.must('usage')).toContain(from)
    expect(await cli.must('prune', '--images')).toBe('nothing to remove\n')
    await cli.must('rm', 'web')
    expect(await cli.must('prune', '--images', '--dry-run')).toContain('KEPT ELSEWHERE')
    expect(await cli.must('prune', '--images')).toBe(`removed image ${from}\n`)
    expect((await cli.json('usage')).document).toMatchObject({ containerImages: [] })
  })

  test('what cannot be an image has an exit code and a remedy', async () => {
    const { exitCode, stderr } = await cli.run(['create', '--from', 'archive:/etc/passwd'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('remedy: ')
    expect((await cli.run(['create', '--from', 'oci:/nowhere'])).exitCode).toBe(3)
    expect((await cli.run(['prune', '--images', '--keep-named'])).exitCode).toBe(2)
  })
})

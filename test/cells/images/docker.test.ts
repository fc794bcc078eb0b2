// The same with a real Docker engine of the tests' own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { startDocker } from '../../support/engines/start-docker.ts'
import { rootfsLayer } from '../../support/images/image-files.ts'
import { patiently } from '../../support/patiently.ts'
import { expectNothing } from '../../support/remains.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const engine = await startDocker()
process.env.DOCKER_HOST = `unix://${engine.socket}`
const files = new TemporaryDirectory()
const home = new TestHome('docker-images', { 'images.tool': 'docker' })
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await engine[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
const fp = await home.open()
afterEach(async () => {
  await home.removeAll()
  await fp.pruneImages()
  await expectNothing(home)
})

function docker(args: readonly string[], input: Buffer | string = ''): string {
  return execFileSync('docker', args, { input, encoding: 'utf8', stdio: 'pipe' }).trim()
}

docker(['import', '-', 'small'], rootfsLayer(files.path).tar)
const images = () => docker(['images', '--all', '--format', '{{.Repository}}:{{.Tag}} {{.ID}}'])
const containers = () => docker(['ps', '--all', '--format', '{{.ID}} {{.Names}} {{.State}}'])

describe('with Docker', () => {
  test('an image is used where it lies, kept, and given back', async () => {
    const before = [images(), containers()]
    const env = await fp.create({ from: 'image:small' })
    expect((await env.exec('cat /etc/os-release')).stdout).toBe('NAME="Small"\n')
    expect((await fp.usage()).containerImages).toMatchObject([{ bytes: 0 }])
    expect(images()).toContain(`forkpoint-${home.key}`)
    await home.removeAll()
    await fp.pruneImages()
    expect([images(), containers()]).toEqual(before)
  })

  test('an image outlives a prune of all that Docker itself uses', async () => {
    docker(['import', '-', 'pruned'], rootfsLayer(files.path).tar)
    const env = await fp.create({ from: 'image:pruned' })
    docker(['image', 'prune', '--all', '--force'])
    const [fork] = await env.fork(1)
    expect((await fork?.exec('ls /bin/cat'))?.stdout).toBe('/bin/cat\n')
    docker(['import', '-', 'small'], rootfsLayer(files.path).tar)
  })

  test('a Dockerfile is built', async () => {
    const dir = files.file('task')
    mkdirSync(dir)
    writeFileSync(join(dir, 'Dockerfile'), 'FROM small\nCOPY given /given\nENV MODE=task\n')
    writeFileSync(join(dir, 'given'), 'given\n')
    const env = await fp.create({ from: `dockerfile:${dir}` })
    expect((await env.exec('cat /given; echo $MODE')).stdout).toBe('given\ntask\n')
  })

  test('the files of a container are read, and the container stays as it was', async () => {
    docker(['create', '--name', 'theirs', 'small', '/bin/bash'])
    docker(['cp', join(import.meta.dirname, 'docker.test.ts'), 'theirs:/copied'])
    const before = [containers(), docker(['diff', 'theirs'])]
    const env = await fp.create({ from: 'container:theirs' })
    expect((await env.exec('head -c 7 /copied 2>/dev/null || ls /copied')).stdout).toContain('/')
    await env.remove()
    await fp.pruneImages()
    expect([containers(), docker(['diff', 'theirs'])]).toEqual(before)
    docker(['rm', 'theirs'])
  })

  test('a running container is copied with its processes, and stays as it was', async () => {
    const count = 'n=0; while :; do n=$((n + 1)); echo $n >> /numbers; sleep 0.01; done'
    const options = ['--detach', '--name', 'counting', '--network', 'none']
    docker(['run', ...options, 'small', '/bin/bash', '-c', count])
    const before = [containers(), docker(['inspect', 'counting']), docker(['diff', 'counting'])]
    const env = await fp.attach({ target: 'container:counting' })
    const seen = async () => (await env.exec('cat /numbers')).stdout.trim().split('\n').map(Number)
    const first = await seen()
    await expect.poll(async () => (await seen()).length, patiently).toBeGreaterThan(first.length)
    const all = await seen()
    expect(all).toEqual(all.map((_, index) => index + 1))
    await env.remove()
    await fp.pruneImages()
    const after = [containers(), docker(['inspect', 'counting']), docker(['diff', 'counting'])]
    expect(after).toEqual(before)
    docker(['rm', '--force', 'counting'])
  })
})

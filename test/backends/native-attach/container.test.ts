import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../../src/index.ts'
import { filesBelow, processesOf } from '../../support/engines/foreign-container.ts'
import { ContainerStorage } from '../../support/images/container-storage.ts'
import { TestHome } from '../../support/test-home.ts'
import { numbersIn } from '../support/foreign-process.ts'

/** Counts in memory and in a file. Its `sleep` is a child that is dumped with it. */
const counting = `
exec 3>> "\${FILE:-/dev/null}"
n=0
while :; do n=$((n + 1)); echo $n >> /etc/numbers; echo $n; sleep 0.01; done`

// Without limits of its own, Podman asks for more than a root without CAP_SYS_RESOURCE may have.
const options = [
  ...['--network', 'none', '--log-driver', 'none', '--runtime', 'runc'],
  ...['--cgroup-manager', 'cgroupfs', '--events-backend', 'none'],
  ...['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'],
]
const ofPodman = ['--cgroup-manager', '--events-backend', '--runtime']

let storage: ContainerStorage
let home: TestHome
let fp: Forkpoint
beforeAll(async () => {
  storage = new ContainerStorage()
  storage.makeBase('localhost/base')
  home = new TestHome('native-attach-container')
  fp = await home.open()
})
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  storage[Symbol.dispose]()
})

function start(name: string, ...more: string[]): void {
  const pairs = Array.from({ length: options.length / 2 }, (_, index) =>
    options.slice(2 * index, 2 * index + 2),
  )
  const before = pairs.filter(([option = '']) => ofPodman.includes(option)).flat()
  const after = pairs.filter(([option = '']) => !ofPodman.includes(option)).flat()
  const words = ['run', '--detach', '--name', name, ...after, ...more, 'localhost/base']
  storage.run('podman', ...before, ...words, '/bin/bash', '-c', counting)
}

function pidOf(name: string): number {
  return Number(storage.run('podman', 'inspect', '--format', '{{.State.Pid}}', name))
}

/** Everything about it that must be the same afterwards, except for what it counts. */
function traceOf(name: string) {
  const pid = pidOf(name)
  const files = filesBelow(`/proc/${pid}/root`, '').filter((row) => !row.includes('/etc/numbers'))
  return {
    files,
    // Its children come and go.
    processes: processesOf(pid).filter((line) => line.startsWith(`${pid} `)),
    inspected: storage.run('podman', 'inspect', name),
    containers: storage.run('podman', 'ps', '--all', '--external', '--quiet'),
    images: storage.run('podman', 'images', '--all', '--quiet'),
    limits: readFileSync(`/proc/${pid}/limits`, 'utf8'),
    maps: readFileSync(`/proc/${pid}/maps`, 'utf8'),
  }
}

function numbersOf(name: string): number[] {
  return numbersIn(readFileSync(`/proc/${pidOf(name)}/root/etc/numbers`, 'utf8'))
}

async function run(env: Environment, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await env.exec(command)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

async function expectCounting(env: Environment): Promise<void> {
  const seen = async () => numbersIn(await run(env, 'cat /etc/numbers'))
  const { length } = await seen()
  await expect.poll(async () => (await seen()).length).toBeGreaterThan(length + 3)
  const all = await seen()
  expect(all).toEqual(all.map((_, index) => index + 1))
}

describe('a running container', () => {
  test('becomes an ordinary environment with its processes, and is left as it was', async () => {
    start('theirs', '--env', 'TINT=pale', '--workdir', '/etc')
    await expect.poll(() => numbersOf('theirs').length).toBeGreaterThan(5)
    const before = traceOf('theirs')
    const env = await fp.attach({ target: 'theirs', name: 'mine' })
    expect(env.lastInfo).toMatchObject({
      backend: 'native',
      workdir: '/etc',
      source: { kind: 'attached', target: 'container:theirs' },
    })
    expect(await run(env, 'echo $TINT; pwd')).toBe('pale\n/etc\n')
    await expectCounting(env)
    // Its image is in use.
    await fp.pruneImages()
    const [fork] = await env.fork(1)
    if (fork === undefined) throw new Error('no fork')
    await expectCounting(fork)
    await run(env, 'kill -9 2; echo gone > /etc/numbers')
    const { head } = await env.info()
    if (head === null) throw new Error('a fork takes a snapshot')
    await env.restore(head)
    await expectCounting(env)
    await home.removeAll()
    await fp.pruneImages()
    const { length } = numbersOf('theirs')
    await expect.poll(() => numbersOf('theirs').length).toBeGreaterThan(length + 3)
    const numbers = numbersOf('theirs')
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(traceOf('theirs')).toEqual(before)
    storage.run('podman', 'rm', '--force', '--time', '0', 'theirs')
  })

  test('that cannot be moved is refused with a remedy', async () => {
    await expect(fp.attach({ target: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
    storage.run('podman', 'create', '--name', 'ended', 'localhost/base', '/bin/bash')
    await expect(fp.attach({ target: 'container:ended' })).rejects.toMatchObject({
      code: 'conflict',
      remedy: /podman start ended/,
    })
    storage.run('podman', 'rm', 'ended')
    const volume = storage.files.file('volume')
    mkdirSync(volume)
    start('outer', '--volume', `${volume}:/vol`, '--env', 'FILE=/vol/open')
    await expect.poll(() => readdirSync(volume)).toEqual(['open'])
    const before = traceOf('outer')
    await expect(fp.attach({ target: 'outer' })).rejects.toMatchObject({
      message: /"\/vol\/open" open, on a volume/,
      remedy: /without that volume/,
    })
    await fp.pruneImages()
    expect(traceOf('outer')).toEqual(before)
    storage.run('podman', 'rm', '--force', '--time', '0', 'outer')
    expect(await fp.list()).toEqual([])
  })
})

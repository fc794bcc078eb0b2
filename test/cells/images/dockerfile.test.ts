// Environments from Dockerfiles, which are built once for the same files.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { BackendError, type Environment } from '../../../src/index.ts'
import { ContainerStorage } from '../../support/images/container-storage.ts'
import { TestHome } from '../../support/test-home.ts'

const storage = new ContainerStorage()
storage.makeBase('localhost/base')
const home = new TestHome('dockerfiles')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  storage[Symbol.dispose]()
})
const fp = await home.open()
afterEach(async () => {
  await home.removeAll()
  await fp.pruneImages()
})

let count = 0

interface Task {
  readonly dir: string
  readonly from: string
  write(name: string, content: string): void
}

/** Each build writes another number into /built, so a build that ran again can be seen. */
function task(lines: readonly string[] = []): Task {
  const dir = storage.files.file(`task-${count++}`)
  mkdirSync(dir)
  const write = (name: string, content: string) => writeFileSync(`${dir}/${name}`, content)
  write('Dockerfile', ['FROM localhost/base', 'COPY given /given', ...lines].join('\n'))
  write('given', 'given\n')
  return { dir, from: `dockerfile:${dir}`, write }
}

const imageId = async (env: Environment) => (await env.info()).image?.id

describe('dockerfile:DIR', () => {
  test('runs its steps, and honours what it declares', async () => {
    const { from } = task([
      'RUN echo "made by $(id -u)" > /made',
      'ENV MODE=task',
      'WORKDIR /work/here',
      'EXPOSE 80',
      'LABEL suite=tests',
      'CMD ["/bin/bash", "-c", "echo ran > /tmp/ran"]',
    ])
    const env = await fp.create({ from })
    const { stdout } = await env.exec('cat /given /made; echo $MODE; pwd')
    expect(stdout).toBe('given\nmade by 0\ntask\n/work/here\n')
    const { image, labels } = await env.info()
    expect(image?.ports).toEqual(['80/tcp'])
    expect(labels).toMatchObject({ suite: 'tests' })
    await env.startImage()
    await expect.poll(async () => (await env.exec('cat /tmp/ran')).stdout).toBe('ran\n')
  })

  test('is not built again for the same files, even if they were written again', async () => {
    const { from, dir, write } = task()
    const first = await fp.create({ from })
    // Without the engine, only the cache can answer.
    const { PATH: variables } = process.env
    await sleep(150)
    try {
      process.env.PATH = '/nowhere'
      const again = await fp.create({ from })
      expect(await imageId(again)).toBe(await imageId(first))
      write('given', 'given\n')
      utimesSync(`${dir}/given`, 1, 1)
      expect(await imageId(await fp.create({ from }))).toBe(await imageId(first))
    } finally {
      process.env.PATH = variables
    }
    expect((await fp.usage()).containerImages.length).toBe(1)
  })

  test('is built again when a file, a mode or the Dockerfile changes', async () => {
    const { from, write } = task()
    const ids = [await imageId(await fp.create({ from }))]
    write('given', 'other\n')
    const env = await fp.create({ from })
    expect((await env.exec('cat /given')).stdout).toBe('other\n')
    ids.push(await imageId(env))
    write('Dockerfile', 'FROM localhost/base\nCOPY given /elsewhere\n')
    ids.push(await imageId(await fp.create({ from })))
    expect(new Set(ids).size).toBe(3)
  })

  test('does not depend on files that .dockerignore leaves out', async () => {
    const { from, write, dir } = task()
    mkdirSync(`${dir}/logs`)
    write('.dockerignore', 'logs/*\n!logs/kept\n*.tmp\n')
    write('logs/kept', 'a')
    const first = await imageId(await fp.create({ from }))
    write('logs/run', 'x')
    write('note.tmp', 'x')
    expect(await imageId(await fp.create({ from }))).toBe(first)
    write('Dockerfile', 'FROM localhost/base\nCOPY logs /logs\n')
    const copied = await fp.create({ from })
    expect((await copied.exec('ls /logs')).stdout).toBe('kept\n')
    write('logs/kept', 'b')
    const changed = await fp.create({ from })
    expect((await changed.exec('cat /logs/kept')).stdout).toBe('b')
  })

  test('that fails says why, and leaves nothing behind', async () => {
    const { from } = task(['RUN echo this is why >&2; exit 7'])
    const failure = await fp.create({ from }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BackendError)
    expect(String((failure as BackendError).lastWords)).toMatch(/exit status 7/)
    expect(await fp.list()).toEqual([])
    expect((await fp.usage()).containerImages).toEqual([])
  })
})

test('an unchanged directory answers its first command in under twice the time of the host', async () => {
  const { from } = task(['RUN echo built > /built'])
  await fp.create({ from })
  await sleep(150)
  const best = { [from]: Number.POSITIVE_INFINITY, host: Number.POSITIVE_INFINITY }
  for (let round = 0; round < 5; round++) {
    for (const source of ['host', from]) {
      const began = performance.now()
      const env = await fp.create({ from: source })
      await env.exec('true')
      best[source] = Math.min(best[source] ?? 0, performance.now() - began)
      await env.remove()
    }
  }
  const ratio = (best[from] ?? 0) / (best.host ?? 1)
  console.log(
    `first command: ${best[from]?.toFixed(1)} ms, host ${best.host?.toFixed(1)} ms, ratio ${ratio.toFixed(2)}`,
  )
  expect(ratio).toBeLessThan(2)
})

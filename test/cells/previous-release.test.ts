// A home that the previous release made, by its own code and with its own programs, opened by this one.
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Forkpoint } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const root = join(import.meta.dirname, '../..')
const previous = '31ff9cee20304eccac6e69b16403c76825dcaf9b'

/** A clone without history cannot check out what came before. */
function whyNot(): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${previous}^{commit}`], { cwd: root, stdio: 'pipe' })
    return null
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer }
    return `git cannot show the previous release: ${stderr?.toString().trim() ?? String(error)}`
  }
}

/** Two environments with a shell that knows things: one runs on, of the other only a snapshot is left. */
const makeHome = `
import { Forkpoint } from './src/index.ts'
const fp = await Forkpoint.open({ settings: { home: process.argv[2], spares: 0 } })
const env = await fp.create({ name: 'old' })
await env.exec('cd /srv; X=first; sleep 1000 & echo first > /root/file')
const taken = await env.snapshot({ name: 'moment', labels: { stage: 'old' } })
await env.exec('X=later; echo later > /root/file')
const [twin] = await taken.fork(1, { name: 'twin' })
await twin.pause({ release: true })
await fp.close()
`

const answer = async (fp: Forkpoint, name: string) =>
  (await (await fp.get(name)).exec('echo $X $PWD $(cat /root/file); jobs | wc -l')).stdout

describe('a home made by the previous release', unless(whyNot()), () => {
  const home = new TestHome('previous')
  const sources = new TemporaryDirectory()
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    sources[Symbol.dispose]()
  })

  beforeAll(() => {
    const archive = execFileSync('git', ['archive', previous], {
      cwd: root,
      maxBuffer: 2 ** 28,
    })
    execFileSync('tar', ['x', '-C', sources.path], { input: archive })
    execFileSync('make', ['-C', join(sources.path, 'native'), '-j2'], { stdio: 'pipe' })
    symlinkSync(join(root, 'node_modules'), sources.file('node_modules'))
    writeFileSync(sources.file('make-home.ts'), makeHome)
    execFileSync(process.execPath, [sources.file('make-home.ts'), home.path], { stdio: 'pipe' })
  })

  test('opens: its environments answer, its snapshots restore and fork', async () => {
    await using fp = await home.open()
    expect((await fp.list()).map(({ name, lastInfo }) => [name, lastInfo.status])).toEqual([
      ['old', 'running'],
      ['twin', 'released'],
    ])
    expect(await answer(fp, 'old')).toBe('later /srv later\n1\n')
    const env = await fp.get('old')
    await env.restore('moment')
    expect(await answer(fp, 'old')).toBe('first /srv first\n1\n')
    await (await fp.get('twin')).resume()
    expect(await answer(fp, 'twin')).toBe('first /srv first\n1\n')
    const moment = await fp.snapshot('moment')
    expect(moment.lastInfo.labels).toEqual({ stage: 'old' })
    await moment.fork(1, { name: 'branch' })
    expect(await answer(fp, 'branch')).toBe('first /srv first\n1\n')
    expect((await env.diff()).changes).toEqual([])
    await env.snapshot({ name: 'next' })
    expect((await fp.snapshots()).length).toBe(3)
  })
})

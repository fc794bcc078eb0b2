import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../../src/index.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

/** Makes a chain of directories with a file and a link to it at the end, however long the path gets. */
function chain(top: string, name: string, levels: number): string {
  return `python3 -c '
import os
os.mkdir("${top}"); os.chdir("${top}")
for i in range(${levels}):
    os.mkdir("${name}"); os.chdir("${name}")
open("end", "w").write("deep"); os.link("end", "same")
'`
}

const names = { long: { name: 'n'.repeat(200), levels: 60 }, many: { name: 'dd', levels: 1600 } }

/** What is at the end of such a chain, on the host. */
function endOf(top: string, { name, levels }: (typeof names)['long']): string {
  const script = `
import os, sys
os.chdir(sys.argv[1])
for i in range(${levels}): os.chdir("${name}")
print(open("end").read(), os.stat("end").st_nlink, end="")`
  return execFileSync('python3', ['-c', script, top]).toString()
}

describe('a tree that is deeper than the longest path', () => {
  let home: TestHome
  let fp: Forkpoint
  let files: TemporaryDirectory
  let env: Environment

  beforeAll(async () => {
    home = new TestHome('deep')
    fp = await home.open()
    files = new TemporaryDirectory()
    mkdirSync(files.file('w'))
    writeFileSync(files.file('w/one'), 'one')
    execFileSync('ln', [files.file('w/one'), files.file('w/other')])
    env = await fp.create({ from: `dir:${files.file('w')}`, net: 'none' })
    for (const [top, { name, levels }] of Object.entries(names)) {
      const made = await env.exec(chain(`${files.file('w')}/${top}`, name, levels))
      expect(made).toMatchObject({ exitCode: 0 })
    }
  })
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    // Node's own `rm` does not reach that deep.
    execFileSync('rm', ['-rf', files.path])
  })

  test('is shown by diff, with all its entries', async () => {
    const { changes } = await env.diff(undefined, { paths: [files.file('w')] })
    expect(changes.length).toBe(60 + 1600 + 2 * 3)
    expect(Math.max(...changes.map(({ path }) => path.length))).toBeGreaterThan(12_000)
    const { patch } = await env.diff(undefined, { paths: [files.file('w/long')], patch: 'text' })
    expect(patch).toContain('+deep')
  })

  test('is exported completely', async () => {
    await env.export(files.file('exported'))
    for (const [top, spec] of Object.entries(names)) {
      expect(endOf(files.file(`exported/${top}`), spec)).toBe('deep 2')
    }
  })

  test('is applied completely', async () => {
    const target = files.file('copy')
    execFileSync('cp', ['-a', files.file('w'), target])
    await env.apply(target)
    for (const [top, spec] of Object.entries(names)) {
      expect(endOf(`${target}/${top}`, spec)).toMatch('deep')
    }
    expect(await env.apply(target)).toMatchObject({ changes: [], conflicts: [] })
    expect(readdirSync(target).sort()).toEqual(['long', 'many', 'one', 'other'])
  })

  test('is copied out completely, however long its path is', async () => {
    mkdirSync(files.file('cp-long'))
    await env.files.download(files.file('w/long'), files.file('cp-long/out'))
    expect(endOf(files.file('cp-long/out'), names.long)).toMatch('deep')
  })

  test('with too many levels is refused by cp, which names it and leaves nothing', async () => {
    mkdirSync(files.file('cp-many'))
    const copying = env.files.download(files.file('w/many'), files.file('cp-many/out'))
    await expect(copying).rejects.toMatchObject({ message: expect.stringContaining('w/many') })
    expect(readdirSync(files.file('cp-many'))).toEqual([])
  })

  test('does not prevent a snapshot of changed hard links, and exists in a fork', async () => {
    await env.exec(`echo changed > ${files.file('w/one')}`)
    const snapshot = await env.snapshot()
    await env.exec(`echo again > ${files.file('w/other')}`)
    await env.snapshot()
    expect((await env.exec(`cat ${files.file('w/one')}`)).stdout).toBe('again\n')
    const [fork] = await snapshot.fork()
    expect((await fork?.exec(`cat ${files.file('w/other')}`))?.stdout).toBe('changed\n')
    const { changes } = await env.diff(fork, { paths: [files.file('w')] })
    expect(changes.map(({ kind }) => kind)).toEqual(['modified', 'modified'])
    await fork?.remove()
  })

  test('has hard links that stay one file across a snapshot', async () => {
    const { name, levels } = names.long
    const atEnd = (work: string) =>
      env.exec(`python3 -c '
import os
os.chdir("${files.file('w/long')}")
for i in range(${levels}): os.chdir("${name}")
${work}'`)
    await env.snapshot()
    expect(await atEnd('open("end", "w").write("changed")')).toMatchObject({ exitCode: 0 })
    await env.snapshot()
    expect((await atEnd('print(open("same").read())')).stdout).toBe('changed\n')
  })

  test('that is too deep to hold open is refused, and leaves nothing behind', async () => {
    const deepest = await fp.create({ from: `dir:${files.file('w')}`, net: 'none' })
    const made = await deepest.exec(chain(`${files.file('w')}/deepest`, 'd', 20_000))
    expect(made).toMatchObject({ exitCode: 0 })
    mkdirSync(files.file('none'))
    await expect(deepest.diff()).rejects.toThrow(/too deep|MiB of paths/)
    await expect(deepest.export(files.file('none/out'))).rejects.toThrow('too deep')
    expect(readdirSync(files.file('none'))).toEqual([])
    await expect(deepest.apply(files.file('w'))).rejects.toThrow(/too deep|MiB of paths/)
    expect(readdirSync(files.file('w')).sort()).toEqual(['one', 'other'])
    await deepest.remove()
  })
})

// An apply that a killed process of an earlier release left half-done, which is in the journal.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { savePlan } from '../../src/api/host/apply/plan-file.ts'
import { newStagingName } from '../../src/api/host/apply/staging.ts'
import { openStore } from '../../src/store/open-store.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

let home: TestHome
let files: TemporaryDirectory
beforeAll(async () => {
  home = new TestHome('older-applies')
  files = new TemporaryDirectory()
  await (await home.open()).close()
})
afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

/** As if killed after removing `a`. */
async function interrupt(target: string): Promise<void> {
  const staging = newStagingName()
  for (const part of ['old', 'new']) mkdirSync(join(target, staging, part), { recursive: true })
  const { dev, ino } = statSync(target, { bigint: true })
  const facts = { target, staging, device: String(dev), inode: String(ino) }
  const store = openStore(home.path)
  const { id } = store.journal.begin('apply', null, facts)
  store.close()
  const inodes = { target: String(ino), staging: String(statSync(join(target, staging)).ino) }
  mkdirSync(join(home.path, 'applies'), { recursive: true, mode: 0o700 })
  await savePlan(join(home.path, 'applies'), id, {
    inodes,
    steps: [{ do: 'away', path: 'a', slot: 0 }],
  })
  execFileSync('mv', [join(target, 'a'), join(target, staging, 'old/0')])
  using db = new DatabaseSync(join(home.path, 'db.sqlite'))
  // Its process is gone.
  db.prepare(`UPDATE journal SET owner_start = 1 WHERE id = ?`).run(id)
}

test('is undone by the next process that opens the home', async () => {
  const target = files.file('w')
  mkdirSync(target)
  writeFileSync(join(target, 'a'), 'mine')
  await interrupt(target)
  expect(readdirSync(target)).not.toContain('a')
  await home.open()
  expect(readdirSync(target)).toEqual(['a'])
  expect(readFileSync(join(target, 'a'), 'utf8')).toBe('mine')
  expect(readdirSync(join(home.path, 'applies'))).toEqual([])
  const store = openStore(home.path)
  expect(store.journal.open()).toEqual([])
  store.close()
})

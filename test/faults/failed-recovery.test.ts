// What a killed process left half-done cannot always be undone. That must not lock anybody out of an
// environment that runs: it can be used, listed, branched and removed, and a warning says what is wrong.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { openStore } from '../../src/store/open-store.ts'
import { CliHome } from '../e2e/cli/cli-home.ts'
import { lastFrozen } from '../support/kill-walks.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import type { TestHome } from '../support/test-home.ts'

// The kernel never lets go of the obstacles; nobody has to wait so long for that.
vi.stubEnv('FORKPOINT_SECOND_MS', '200')

const cli = new CliHome()
const { home } = cli
afterAll(() => cli[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const killed = { exitCode: null, signal: 'SIGKILL' }

/** An environment whose snapshot was killed at `point`; nobody has opened the store since. */
async function interrupted(point: string, home: TestHome): Promise<void> {
  await using fp = await home.open()
  const env = await fp.create({ name: 'web' })
  await env.exec('X=kept; echo kept > /root/file')
  const variables = { FORKPOINT_KILL_AT: point }
  expect(await runProgram(home, ['snapshot', 'web'], variables)).toMatchObject(killed)
}

/** A file in the unfinished snapshot that not even root can remove, until it is disposed of. */
function immovableDraft(): Disposable {
  using store = openStore(home.path)
  const [draft] = store.snapshots.list()
  if (!draft) throw new Error('the draft is missing')
  const file = join(placesOf(home.path).snapshot(draft.id), 'immovable')
  writeFileSync(file, '')
  execFileSync('chattr', ['+i', file])
  return { [Symbol.dispose]: () => execFileSync('chattr', ['-i', file]) }
}

/** A cgroup below each of the environment's lives, which keeps every one from being removed. */
function immovableCgroups({ key }: TestHome): Disposable {
  const top = ['/sys/fs/cgroup/forkpoint', '/sys/fs/cgroup/pids/forkpoint']
    .map((path) => join(path, key))
    .find((path) => {
      try {
        return readdirSync(path).length > 0
      } catch {
        // This machine has the other hierarchy.
        return false
      }
    })
  if (top === undefined) throw new Error('the cgroup is missing')
  const lives = readdirSync(top, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const obstacles = lives.map(({ name }) => join(top, name, 'obstacle'))
  for (const path of obstacles) mkdirSync(path)
  return {
    [Symbol.dispose]: () => {
      for (const path of obstacles) rmdirSync(path)
    },
  }
}

const warning =
  /an unfinished snapshot of \w+ cannot be undone: .*\n {2}remedy: every command tries to undo it again; to give up, run `forkpoint rm \w+`\n/

test('a snapshot that cannot be undone does not prevent the use of its environment', async () => {
  await interrupted('snapshot:dumped', home)
  {
    using _obstacle = immovableDraft()
    const ran = await cli.run(['exec', 'web', '--', 'echo $X $(cat /root/file)'])
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'kept kept\n' })
    expect(ran.stderr).toMatch(warning)
    expect(await cli.must('ls')).toContain('web')
    expect((await cli.run(['rename', 'web', 'shop'])).exitCode).toBe(0)
    const taken = await cli.run(['snapshot', 'shop', '--name', 'next'])
    expect(taken).toMatchObject({ exitCode: 0 })
    expect(taken.stderr).toMatch(warning)
    expect((await cli.run(['restore', 'shop', 'next'])).exitCode).toBe(0)
    expect((await cli.run(['exec', 'shop', '--', 'echo $X'])).stdout).toBe('kept\n')
    expect((await cli.run(['doctor', '--json'])).stdout).toContain('unfinished work')
  }
  // Tried again once nothing is in the way.
  const { stderr } = await cli.run(['ls'])
  expect(stderr).toBe('')
  await using fp = await home.open()
  expect((await fp.snapshots()).map(({ name }) => name)).toEqual(['next'])
})

test('a snapshot that cannot be undone does not prevent the removal of its environment', async () => {
  await interrupted(lastFrozen, home)
  {
    using _obstacle = immovableDraft()
    expect(await cli.run(['rm', 'web'])).toMatchObject({ exitCode: 0 })
    expect((await cli.json('ls')).document).toEqual([])
  }
  expect((await cli.run(['ls'])).stderr).toBe('')
})

// Only on ext4 does a snapshot begin a second life.
test('a life that cannot be ended does not keep the environment frozen', async () => {
  await using sealing = new CliHome({ volume: 'ext4' })
  await interrupted('launch:alive', sealing.home)
  using _obstacle = immovableCgroups(sealing.home)
  const ran = await sealing.run(['exec', 'web', '--', 'echo $X'])
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'kept\n' })
  expect(ran.stderr).toMatch(warning)
})

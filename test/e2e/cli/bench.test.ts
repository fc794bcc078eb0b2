import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { removeKilledRuns } from '../../../src/bench/homes/killed-runs.ts'
import { pids, readOf } from '../../../src/bench/proc.ts'
import { backendColumns } from '../../../src/bench/report/backends.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, untilShown } from './cli-home.ts'

const checkout = resolve(import.meta.dirname, '../../..')

interface Series {
  readonly by: string
  readonly what: string
  readonly on: string
  readonly samples: readonly number[]
}

/** What each workload is measured at, by Forkpoint. */
const ours = ['first snapshot', 'second snapshot', 'restore', 'fork of 1', 'fork of 4, per copy']

describe('bench', () => {
  test('measures every operation, and the peers that exist here, and leaves nothing behind', async () => {
    await using cli = new CliHome()
    const ran = await cli.json('bench', '--quick', '--only', 'operations')
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('operations, round 1 of 1: idle shell\n')
    const { machine, groups, missing, promises } = ran.document
    expect(machine.cpus).toBeGreaterThan(0)
    expect(machine.versions.criu).toMatch(/4\.\d/)
    expect(Object.keys(groups)).toEqual(['operations'])

    const series: Series[] = groups.operations
    for (const { samples, what } of series) {
      expect(samples, what).toHaveLength(what.startsWith('second snapshot') ? 3 : 1)
      expect(samples[0], what).toBeGreaterThan(0)
    }
    const unmeasured = missing.map(({ what }: { what: string }) => what).join()
    for (const on of ['idle shell', 'Python 16 MB']) {
      const measured = (by: string) =>
        series.filter((each) => each.by === by && each.on === on).map(({ what }) => what)
      expect(measured('forkpoint')).toEqual(expect.arrayContaining(ours))
      for (const [by, title] of [
        ['criu', 'plain CRIU'],
        ['podman', 'podman'],
        ['docker', 'docker'],
        ['copy', 'cp -a'],
      ] as const) {
        const expected = unmeasured.includes(title) ? [] : ['snapshot', 'restore']
        expect(measured(by), by).toEqual(expected)
      }
    }
    expect(promises).toHaveLength(9)
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
  })

  test('measures writing inside against ext4, and pauses against another checkout', async () => {
    await using cli = new CliHome()
    const groups = ['--only', 'writing,pause', '--against', checkout]
    const ran = await cli.json('bench', '--quick', ...groups)
    expect(ran.exitCode, ran.stderr).toBe(0)
    const { writing, pause }: Record<string, Series[]> = ran.document.groups
    const measured = (series: Series[] = [], by: string) =>
      series
        .filter((each) => each.by === by && each.samples.every((sample) => sample > 0))
        .map(({ on, what }) => `${on}, ${what}`)
        .toSorted()
    expect(measured(writing, 'forkpoint')).toEqual(
      expect.arrayContaining([
        'untar 300 files, until sync',
        '400 small files, until it returns',
        'cp -r 300 files, until sync',
        'write 16 MB, until it returns',
        'stat 400 files, until it returns',
        'rm -r 400 files, until sync',
      ]),
    )
    expect(measured(pause, 'forkpoint')).toEqual(
      expect.arrayContaining([
        'idle shell, pause, first snapshot',
        '20 processes, pause, second snapshot',
        'Python 16 MB, written, 4 MB changed',
      ]),
    )
    for (const by of ['ext4', 'before']) {
      expect(measured(writing, by), by).toEqual(measured(writing, 'forkpoint'))
    }
    expect(measured(pause, 'before')).toEqual(measured(pause, 'forkpoint'))
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
  }, 300_000)

  test('refuses to compare with what is not a checkout, or not a built one', async () => {
    await using cli = new CliHome()
    using dir = new TemporaryDirectory()
    const other = await cli.run(['bench', '--quick', '--against', dir.path])
    expect(other.exitCode).toBe(2)
    expect(other.stderr).toContain(`${dir.path} is not a checkout of Forkpoint`)
    mkdirSync(dir.file('src'))
    writeFileSync(dir.file('src/index.ts'), '')
    const unbuilt = await cli.run(['bench', '--quick', '--against', dir.path])
    expect(unbuilt.exitCode).toBe(6)
    expect(unbuilt.stderr).toContain(`${dir.path}/dist/index.js is missing`)
    expect(unbuilt.stderr).toContain(`run \`${dir.path}/forkpoint doctor\` once`)
  })

  test('an interrupted run ends with 130 and cleans up', async () => {
    await using cli = new CliHome()
    const child = cli.start(['bench', '--quick', '--only', 'chain'])
    await untilShown(child.stderr, /chain: snapshot/)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([130, null])
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
    expect(existsSync(cli.home.path)).toBe(true)
  })

  test('the next run removes what a killed one left, including its peers and their programs', async () => {
    await using cli = new CliHome()
    await using ending = new AsyncDisposableStack()
    ending.defer(() => removeKilledRuns({ settings: { home: cli.home.path } }))
    const child = cli.start(['bench', '--quick', '--only', 'operations'])
    await untilShown(child.stderr, /idle shell, criu\n/)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(remainsOf(child.pid)).toContain('/var/tmp')
    await cli.must('bench', '--quick', '--only', 'chain')
    expect(remainsOf(child.pid)).toEqual([])
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
  })

  test('compares backends, and a missing engine is a row with the reason', async () => {
    await using cli = new CliHome()
    const asked = ['bench', '--quick', '--backends', 'native,docker,criu,gvisor']
    const env = { FORKPOINT_DOCKER_SOCKET: '/nonexistent/docker.sock' }
    const ran = await cli.run([...asked, '--json'], { env })
    expect(ran.exitCode, ran.stderr).toBe(0)
    const { backends, groups, failed, promises } = JSON.parse(ran.stdout)
    expect(failed).toEqual([])
    const everything = ['filesystem', 'processes', 'terminal']
    const found = { captured: everything, missing: null }
    expect(backends).toEqual([
      { backend: 'native', ...found },
      {
        backend: 'docker',
        captured: [],
        missing: expect.stringMatching(/nonexistent.*docker\.socket/),
      },
      { backend: 'criu', ...found },
      { backend: 'gvisor', ...found },
    ])
    expect(Object.keys(groups)).toEqual(['backends'])
    const series: Series[] = groups.backends
    for (const by of ['native backend', 'criu backend', 'gvisor backend']) {
      for (const on of ['idle shell', 'Python 16 MB']) {
        const mine = series.filter((each) => each.by === by && each.on === on)
        expect(mine.map(({ what }) => what).toSorted()).toEqual(backendColumns.toSorted())
        for (const { what, samples } of mine) expect(samples[0], what).toBeGreaterThan(0)
      }
    }
    expect(promises.map(({ met }: { met: boolean | null }) => met)).not.toContain(null)
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
  }, 300_000)

  test('refuses an unknown backend, and other groups next to backends', async () => {
    await using cli = new CliHome()
    const unknown = await cli.run(['bench', '--backends', 'native,abacus'])
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toContain('--backends: not a backend: "abacus"')
    const both = await cli.run(['bench', '--backends', 'all', '--only', 'pause'])
    expect(both.exitCode).toBe(2)
    expect(both.stderr).toContain('leave out --only')
  })

  test('refuses an unknown group', async () => {
    await using cli = new CliHome()
    const ran = await cli.run(['bench', '--only', 'operations,speed'])
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('--only: not a group of measurements: "speed"')
  })
})

/** What is left of that run: directories, and processes by what they run. */
function remainsOf(run: number | undefined): string[] {
  const directories = ['/var/tmp', '/dev/shm'].filter((parent) =>
    readdirSync(parent).some((name) => name.startsWith(`fp-bench-${run}-`)),
  )
  const processes = pids().filter((pid) =>
    ['cmdline', 'cgroup', 'mountinfo'].some((file) =>
      new RegExp(`(fp|forkpoint)-bench-${run}-`).test(readOf(pid, file)),
    ),
  )
  return [...directories, ...processes.map((pid) => readOf(pid, 'cmdline'))]
}

import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { removeKilledRuns } from '../../../src/bench/killed-runs.ts'
import { pids, readOf } from '../../../src/bench/proc.ts'
import { CliHome, untilShown } from './cli-home.ts'

interface Series {
  readonly by: string
  readonly what: string
  readonly on: string
  readonly samples: readonly number[]
}

/** What each workload is measured at, by Forkpoint. */
const ours = ['first snapshot', 'second snapshot', 'restore', 'fork of 1', 'fork of 4, per copy']

describe('bench', () => {
  test('measures every operation, and the peers that are there, and leaves nothing', async () => {
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
    const told = missing.map(({ what }: { what: string }) => what).join()
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
        const expected = told.includes(title) ? [] : ['snapshot', 'restore']
        expect(measured(by), by).toEqual(expected)
      }
    }
    expect(promises).toHaveLength(9)
    expect(readdirSync(cli.home.path).filter((name) => name.startsWith('bench-'))).toEqual([])
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

  test('what a killed run left, its peers and their programs, too, goes with the next', async () => {
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

  test('refuses a group that there is not', async () => {
    await using cli = new CliHome()
    const ran = await cli.run(['bench', '--only', 'operations,speed'])
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain('--only: no group of measurements: "speed"')
  })
})

/** Where something of that run is left: directories, and processes by what they run. */
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

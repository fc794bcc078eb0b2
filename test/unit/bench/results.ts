// Results of an imaginary run, with numbers that are easy to calculate with.
import type { By, Results, Series } from '../../../src/bench/results.ts'

const mib = 2 ** 20

function series(by: By, what: string, on: string, samples: number[], at?: number): Series {
  const unit = /written|memory|usage|in use|shared|copied/.test(what) ? 'bytes' : 'ms'
  return { by, what, on, unit, samples, ...(at !== undefined && { at }) }
}

const python = 'Python 512 MB'
const shell = 'idle shell'

export const operations: readonly Series[] = [
  series('forkpoint', 'first snapshot', shell, [40, 60, 50]),
  series('forkpoint', 'restore', shell, [30]),
  series('podman', 'snapshot', shell, [200]),
  series('podman', 'restore', shell, [120]),
  series('forkpoint', 'first snapshot', python, [500]),
  series('forkpoint', 'second snapshot', python, [100]),
  series('forkpoint', 'first snapshot, written', python, [500 * mib]),
  series('forkpoint', 'second snapshot, written', python, [5 * mib]),
  series('forkpoint', 'restore', python, [60]),
  series('forkpoint', 'fork of 1', python, [50]),
  series('forkpoint', 'fork of 4, per copy', python, [75]),
  series('forkpoint', 'fork from a spare', python, [5]),
  series('forkpoint', 'private memory of a fork', python, [6 * mib]),
  series('criu', 'restore', python, [1500]),
]

const size = [64, 512, 2048].flatMap((mb) => [
  series('forkpoint', 'fork', 'Python', [50 + mb / 100], mb),
  series('forkpoint', 'restore', 'Python', [60 + mb / 100], mb),
  series('criu', 'restore', 'Python', [3 * mb], mb),
])

const fanout = [1, 10, 100].flatMap((forks) => [
  series('forkpoint', 'fork, all', python, [40 * forks], forks),
  series('forkpoint', 'fork, per copy', python, [40], forks),
  series('forkpoint', 'private memory', python, [3 * mib * forks], forks),
  series('forkpoint', 'memory less available', python, [12 * mib * forks], forks),
  series('forkpoint', 'memory charged', python, [4 * mib * forks], forks),
])

const chain = Array.from({ length: 300 }, (_, i) => i + 1).flatMap((depth) => [
  series('forkpoint', 'snapshot', shell, [40 + depth / 10], depth),
  ...(depth % 10 === 0 ? [series('forkpoint', 'restore', shell, [30], depth)] : []),
])

const memory = [
  series('forkpoint', 'shared', python, [520 * mib]),
  series('forkpoint', 'copied', python, [3 * mib]),
  series('forkpoint', 'copied of python3 (mmap: frees it)', python, [2 * mib]),
  series('forkpoint', 'shared', shell, [0]),
  series('forkpoint', 'copied', shell, [mib]),
]

const writing = [
  series('forkpoint', 'until it returns', 'untar 11000 files', [120]),
  series('ext4', 'until it returns', 'untar 11000 files', [100]),
  series('forkpoint', 'until sync', 'untar 11000 files', [280]),
  series('ext4', 'until sync', 'untar 11000 files', [200]),
  series('forkpoint', 'until it returns', 'rm -r 30000 files', [500]),
  series('ext4', 'until it returns', 'rm -r 30000 files', [250]),
]

const pause = [
  series('before', 'pause, second snapshot', shell, [50]),
  series('forkpoint', 'pause, second snapshot', shell, [20, 40, 10]),
  series('forkpoint', 'pause, first snapshot', 'Python 1 MB', [100]),
  series('forkpoint', 'pause, first snapshot', 'Python 2 GB', [160]),
  series('forkpoint', 'written, 32 MB changed', python, [40 * mib]),
]

const soak = [
  series('forkpoint', 'disk in use', python, [1000]),
  series('forkpoint', 'disk by usage', python, [990]),
  series('forkpoint', 'memory in use', python, [1000]),
  series('forkpoint', 'memory by usage', python, [1100]),
]

export const groups: Results['groups'] = {
  operations,
  size,
  fanout,
  chain,
  memory,
  writing,
  pause,
  soak,
}

export const results: Results = {
  machine: {
    cpus: 2,
    cpuModel: 'Slow & Steady',
    memoryBytes: 8 * 1024 * mib,
    kernel: '6.18.0',
    versions: { node: 'v24.0.0', criu: 'Version: 4.2.1', docker: null },
  },
  startedAt: '2026-01-02T03:04:05.000Z',
  tookMs: 90_000,
  rounds: 3,
  groups,
  missing: [{ what: 'docker commit and run', why: 'dockerd is not installed' }],
  failed: [{ what: 'chain', why: 'Error: no room' }],
  promises: [],
}

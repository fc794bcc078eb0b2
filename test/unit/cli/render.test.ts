import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { renderChecks } from '../../../src/cli/render/checks.ts'
import { environmentTable } from '../../../src/cli/render/environment.ts'
import { renderError } from '../../../src/cli/render/error.ts'
import { keyValues } from '../../../src/cli/render/layout/key-values.ts'
import { described, withProgress } from '../../../src/cli/render/layout/progress.ts'
import { plain, styleFor } from '../../../src/cli/render/layout/style.ts'
import { table } from '../../../src/cli/render/layout/table.ts'
import { formatSetting } from '../../../src/cli/render/setting.ts'
import { statsFacts } from '../../../src/cli/render/stats.ts'
import { renderTop } from '../../../src/cli/render/top.ts'
import type { TopRow } from '../../../src/cli/top/measure.ts'
import type { EnvironmentInfo } from '../../../src/index.ts'
import { BackendError, NotFoundError } from '../../../src/model/errors.ts'
import { newEnvironmentId } from '../../../src/model/ids.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

describe('tables', () => {
  const columns = [
    { title: 'A', cell: (row: string[]) => row[0] ?? '' },
    { title: 'LONGER', cell: (row: string[]) => row[1] ?? '' },
    { title: 'C', cell: (row: string[]) => row[2] ?? '' },
  ]

  test('align their columns and have no trailing blanks', () => {
    const rows = [
      ['one', 'x', ''],
      ['a', 'wide cell', 'end'],
    ]
    expect(table(columns, rows, plain).split('\n')).toEqual([
      'A    LONGER     C',
      'one  x',
      'a    wide cell  end',
    ])
  })

  test('leave out what a narrow terminal has no room for, in their own order', () => {
    const some = [
      { title: 'A', cell: () => 'aaaa', drop: 2 },
      { title: 'B', cell: () => 'bbbb' },
      { title: 'C', cell: () => 'cccc', drop: 1 },
    ]
    const at = (width: number) => table(some, ['row'], { ...plain, columns: width }).split('\n')[1]
    expect([16, 15, 9, 3].map(at)).toEqual(['aaaa  bbbb  cccc', 'aaaa  bbbb', 'bbbb', 'bbbb'])
  })

  test('show what cannot be printed as a replacement character', () => {
    expect(table(columns, [['\u001b[2J', 'a\nb', '']], plain)).toContain('�[2J  a�b')
  })

  test('of environments show name, id, status, backend, network, age and source', () => {
    const id = newEnvironmentId()
    const info: EnvironmentInfo = {
      kind: 'environment',
      id,
      name: 'web',
      backend: 'native',
      status: 'running',
      head: null,
      life: null,
      capabilities: [],
      lost: [],
      copies: [],
      source: { kind: 'dir', path: '/srv' },
      limits: {},
      net: { mode: 'none', allow: [] },
      env: {},
      workdir: '/srv',
      labels: {},
      hostname: 'web',
      createdAt: 0,
      execTimeoutMs: null,
      policy: {
        ttlMs: null,
        ttlAction: 'remove',
        idle: null,
        wake: 'idle',
        expiresAt: null,
        idleAt: null,
      },
    }
    const lines = environmentTable([info, { ...info, name: null }], 120_000, plain).split('\n')
    expect(lines[0]).toMatch(/^NAME +ID +STATUS +BACKEND +NET +AGE +SOURCE$/)
    expect(lines[1]).toMatch(new RegExp(`^web +${id} +running +native +none +2m +dir:/srv$`))
    expect(lines[2]).toMatch(new RegExp(`^${id} +running `))
  })

  test('of facts align their values', () => {
    const facts = [
      ['a', '1'],
      ['longer', '2'],
    ] as const
    expect(keyValues(facts, plain)).toBe('a       1\nlonger  2')
  })
})

describe('errors', () => {
  test('have their remedy on a line of its own', () => {
    const error = new NotFoundError('no environment "web"', { remedy: 'forkpoint ls lists them' })
    expect(renderError(error, plain)).toBe(
      'forkpoint: no environment "web"\n  remedy: forkpoint ls lists them',
    )
  })

  test('of a tool quote its last output and name its log', () => {
    const error = new BackendError('dump failed', {
      lastWords: 'Error (a)\nError (b)\u001b[31m\n',
      logPath: '/var/log/dump.log',
      remedy: 'try again',
    })
    expect(renderError(error, plain).split('\n')).toEqual([
      'forkpoint: dump failed',
      '  | Error (a)',
      '  | Error (b)�[31m',
      '  log: /var/log/dump.log',
      '  remedy: try again',
    ])
  })

  test('that are bugs of ours say so, without a stack trace', () => {
    const text = renderError(new TypeError('x is not a function'), plain)
    expect(text).toContain('internal error: x is not a function')
    expect(text).toContain('FORKPOINT_DEBUG=1')
    expect(text).not.toContain('    at ')
  })
})

describe('colours', () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  const pipe = new PassThrough()
  const isColored = (...args: Parameters<typeof styleFor>) => styleFor(...args).bad('x') !== 'x'

  test('are shown on a terminal and nowhere else', () => {
    vi.stubEnv('NO_COLOR', '')
    vi.stubEnv('FORKPOINT_COLOR', '')
    expect(isColored(terminal, {})).toBe(true)
    expect(isColored(pipe, {})).toBe(false)
  })

  test('respect NO_COLOR, unless --color says otherwise', () => {
    vi.stubEnv('NO_COLOR', '1')
    expect(isColored(terminal, {})).toBe(false)
    expect(isColored(pipe, { color: 'always' })).toBe(true)
  })

  test('follow the setting', () => {
    vi.stubEnv('NO_COLOR', '')
    vi.stubEnv('FORKPOINT_COLOR', 'never')
    expect(isColored(terminal, {})).toBe(false)
    vi.stubEnv('FORKPOINT_COLOR', 'always')
    expect(isColored(pipe, {})).toBe(true)
  })
})

describe('progress', () => {
  const run = async (isTTY: boolean, workMs: number) => {
    vi.useFakeTimers()
    const stream = Object.assign(new PassThrough(), { isTTY })
    const work = async () => {
      await vi.advanceTimersByTimeAsync(workMs)
    }
    await withProgress(stream, 'creating web', work)
    return String(stream.read() ?? '')
  }

  test('is not shown for less than a second', async () => {
    expect(await run(true, 900)).toBe('')
  })

  test('is shown on a terminal if it takes longer, and then cleared', async () => {
    const shown = await run(true, 2500)
    expect(shown).toContain('creating web (2 s)')
    expect(shown.endsWith('\r\u001b[K')).toBe(true)
  })

  test('without an amount is never shown elsewhere', async () => {
    expect(await run(false, 2500)).toBe('')
  })

  test('with an amount is a line now and then elsewhere', async () => {
    vi.useFakeTimers()
    const stream = Object.assign(new PassThrough(), { isTTY: false })
    await withProgress(stream, 'copying', async (say) => {
      say('copying app', { doneBytes: 3 * 2 ** 20, totalBytes: 12 * 2 ** 20 })
      await vi.advanceTimersByTimeAsync(2100)
      say('copying app', { doneBytes: 6 * 2 ** 20, totalBytes: null })
      await vi.advanceTimersByTimeAsync(2000)
    })
    expect(String(stream.read())).toBe(
      'forkpoint: copying app: 3 MiB of 12 MiB, 25 %, 1.5 MiB/s (2 s)\n' +
        'forkpoint: copying app: 6 MiB, 1.5 MiB/s (4 s)\n',
    )
  })

  test('leaves out a total that was passed, and says if it is only a bound', () => {
    const grown = described('copying', { doneBytes: 20, totalBytes: 10 }, 1000)
    expect(grown).toBe('copying: 20 B, 20 B/s (1 s)')
    const bound = { doneBytes: 2 ** 30, totalBytes: 2 ** 32, atMost: true } as const
    expect(described('taking a snapshot of web', bound, 2000)).toBe(
      'taking a snapshot of web: 1 GiB of at most 4 GiB, 25 %, 512 MiB/s (2 s)',
    )
  })
})

describe('facts', () => {
  test('of doctor are one line each, with remedies below and the conclusion last', () => {
    const text = renderChecks(
      {
        ok: false,
        checks: [
          { name: 'root', status: 'ok', found: 'uid 0' },
          { name: 'criu', status: 'fail', found: 'none', remedy: 'forkpoint doctor --fix' },
        ],
      },
      plain,
    )
    expect(text.split('\n')).toEqual([
      'ok    root  uid 0',
      'fail  criu  none',
      '      remedy: forkpoint doctor --fix',
      '',
      'this machine cannot run environments yet',
    ])
  })

  test('of stats are shown with their limits', () => {
    const facts = statsFacts({
      memoryBytes: 2 ** 20,
      memoryLimitBytes: 2 ** 30,
      cpuMs: 1500,
      processes: 3,
      processLimit: null,
      terminals: 2,
      diskBytes: 0,
      diskUsedBytes: null,
      diskLimitBytes: null,
      ioReadLimitBytes: null,
      ioWriteLimitBytes: null,
      netLimitBytes: null,
      memory: { privateBytes: 2 ** 19, sharedBytes: 2 ** 29, totalBytes: 2 ** 29 + 2 ** 19 },
      headMemory: {
        mode: 'auto',
        sharedBytes: 2 ** 29,
        copiedBytes: 2 ** 24 + 4096,
        processes: [
          {
            pid: 7,
            command: 'python3',
            shared: true,
            sharedBytes: 2 ** 29,
            copiedBytes: 2 ** 24 + 4096,
            why: 'none of its files counts on zeros in the rest',
            copied: [
              { what: 'mapping', bytes: 2 ** 24, why: "mmap.so: CPython's mmap" },
              { what: 'stack', bytes: 4096, why: 'grows by itself' },
            ],
          },
        ],
      },
    })
    expect(facts).toEqual([
      ['memory', '1 MiB of 1 GiB'],
      ['private', '512 KiB'],
      ['shared', "512 MiB of its snapshots' pages"],
      ['each fork', '512 MiB shared, 16 MiB copied'],
      ['', "16 MiB copied of python3 (mmap.so: CPython's mmap)"],
      ['cpu time', '1.5 s'],
      ['processes', '3'],
      ['terminals', '2'],
      ['files changed', '0 B'],
    ])
  })

  test('of settings read as a user would write them', () => {
    expect(formatSetting('limits.memory', 2 ** 31)).toBe('2 GiB')
    expect(formatSetting('spares.memory', 2 ** 28)).toBe('256 MiB')
    expect(formatSetting('exec.timeout', 90_000)).toBe('1 min 30 s')
    expect(formatSetting('limits.cpus', null)).toBe('none')
    expect(formatSetting('criu', null)).toBe('auto')
    expect(formatSetting('mask.add', [])).toBe('-')
  })
})

describe('top', () => {
  const row: TopRow = {
    id: 'e00000000001',
    name: 'web',
    status: 'running',
    cpus: 1.25,
    cpuMs: 1000,
    memoryBytes: 2 ** 20,
    memoryLimitBytes: 2 ** 30,
    ownBytes: 2 ** 19,
    sharedBytes: 2 ** 21,
    processes: 3,
    diskBytes: 0,
    operations: ['snapshot'],
  }
  const asleep: TopRow = {
    ...row,
    name: null,
    status: 'released',
    cpus: null,
    cpuMs: null,
    memoryBytes: null,
    memoryLimitBytes: null,
    ownBytes: null,
    sharedBytes: null,
    processes: null,
    diskBytes: null,
    operations: [],
  }

  test('sums up, and shows what each environment uses and does', () => {
    expect(renderTop({ at: 0, rows: [row, asleep] }, plain).split('\n')).toEqual([
      '2 environments, 1 running · 125 % CPU · 512 KiB of memory · 1 operation under way',
      '',
      'NAME          ID            STATUS    CPU    MEMORY          OWN      SHARED  PROCS  FILES  OPERATION',
      'web           e00000000001  running   125 %  1 MiB of 1 GiB  512 KiB  2 MiB   3      0 B    snapshot',
      'e00000000001                released  -      -               -        -       -      -      -',
    ])
  })

  test('says how to make an environment if there is none', () => {
    expect(renderTop({ at: 0, rows: [] }, plain)).toContain('forkpoint create')
  })
})

// A dump reads the areas of large processes from a list that we make, instead of /proc/PID/smaps. Both
// must say the same.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freeze, thaw } from '../../src/backends/native/cell/freezer.ts'
import { nativeProgram } from '../../src/linux/native-program.ts'
import { cgroupsOf, hostPids } from '../support/cell-processes.ts'
import { unless } from '../support/evidence.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

const home = new TestHome('areas')
afterAll(() => home[Symbol.asyncDispose]())

const types = '/sys/kernel/btf/vmlinux'
const whyNot = existsSync(types) ? null : `the kernel does not describe its types in ${types}`

/**
 * Areas of every kind that a program can make, one that is large, and so many that the kernel needs several
 * reads to tell them. It then may repeat the last ones for ever.
 */
const program = `
import ctypes, mmap, time
held = bytearray(100 << 20)
def area(**options): return mmap.mmap(-1, 1 << 16, **options)
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
areas = [area(flags=private) for _ in range(12)]
for advice, part in zip((1, 2, 10, 12, 14, 15, 16, 18), areas): part.madvise(advice)
areas += [area(flags=private | 0x100), area(flags=private | 0x4000), area(flags=mmap.MAP_SHARED)]
areas += [area(flags=private, prot=prot) for prot in (0, 1, 2, 3, 5)]
many = mmap.mmap(-1, 3000 << 12, flags=private)
start = ctypes.addressof(ctypes.c_char.from_buffer(many))
protect = ctypes.CDLL(None).mprotect
for page in range(0, 3000, 2): protect(ctypes.c_void_p(start + (page << 12)), 4096, 0)
open('/root/ready', 'w').close()
while True: time.sleep(1)
`

/** The flags of each area, in any order. */
function flagsIn(smaps: string): Map<string, string> {
  const found = new Map<string, string>()
  let area = ''
  for (const line of smaps.split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) area = line
    const [, flags] = /^VmFlags: (.*)$/.exec(line) ?? []
    if (flags !== undefined) found.set(area, flags.split(' ').filter(Boolean).toSorted().join(' '))
  }
  return found
}

test('a list of areas says what smaps says', unless(whyNot), async () => {
  const fp = await home.open()
  const env = await fp.create()
  await env.files.write('/root/program.py', program)
  await run(env, 'setsid -f python3 /root/program.py < /dev/null > /root/log 2>&1')
  await run(env, 'until [ -e /root/ready ]; do sleep 0.1; done')
  // From here on writes are tracked, which is a flag, too.
  await env.snapshot()
  using directory = new TemporaryDirectory()
  const cgroups = cgroupsOf(home, env)
  const pid = hostPids(home, env).find((pid) => isLarge(pid)) ?? 0
  const helper = spawn(nativeProgram('cell'), ['waits', cgroups[0], directory.path, directory.path])
  await once(helper.stdout, 'data')
  await freeze(cgroups, 5_000)
  try {
    const path = join(directory.path, `smaps-${pid}`)
    await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(true)
    const expected = flagsIn(readFileSync(`/proc/${pid}/smaps`, 'utf8'))
    expect(flagsIn(readFileSync(path, 'utf8'))).toEqual(expected)
    const words = new Set([...expected.values()].flatMap((flags) => flags.split(' ')))
    for (const word of ['dc', 'dd', 'gd', 'hg', 'nr', 'rr', 'sr', 'uw', 'wf'])
      expect(words).toContain(word)
  } finally {
    helper.stdin.end('end\n')
    await thaw(cgroups)
    await env.remove()
  }
})

function isLarge(pid: number): boolean {
  const resident = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(resident) > 90_000
}

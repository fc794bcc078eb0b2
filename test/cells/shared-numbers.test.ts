// What the kernel counts for the whole machine or per user: a cell gets a share, and no more.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { kernelLimits } from '../../src/backends/native/cell/kernel-limits.ts'
import type { Environment } from '../../src/index.ts'
import { agentPid, cgroupsOf } from '../support/cell-processes.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('shared-numbers')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()
const env = await fp.create()

async function python(of: Environment, script: string, user = 'root'): Promise<string> {
  const words = ['/usr/bin/python3', '-c', script]
  const { stdout, stderr } = await of.exec(words, { mode: 'process', user, cwd: '/' })
  return stdout.trim() || stderr
}

describe('a flood inside ends at a limit', () => {
  test('of terminals, in a fork too', async () => {
    const open = `
import os
ends = []
try:
    while True: ends.append(os.openpty())
except OSError: print(len(ends))
`
    const [fork] = await env.fork(1)
    for (const one of [env, fork as Environment]) {
      // One of them may be the shell's.
      expect(Number(await python(one, open))).toBeLessThanOrEqual(512)
      expect(Number(await python(one, open))).toBeGreaterThan(500)
    }
  })

  test('of queued signals, for all users together, in a fork too', async () => {
    const queue = `
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])
count = 0
while libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, None) == 0: count += 1
print(count, flush=True)
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
`
    const both = `
import subprocess, sys
script = ${JSON.stringify(queue)}
first = subprocess.Popen([sys.executable, '-c', script, '20'], stdout=subprocess.PIPE, text=True)
total = int(first.stdout.readline())
def nobody():
    import os
    os.setgid(65534); os.setuid(65534)
second = subprocess.run([sys.executable, '-c', script], preexec_fn=nobody, stdout=subprocess.PIPE, text=True)
first.kill()
print(total + int(second.stdout))
`
    const queued = async (of: Environment) => Number(await python(of, both))
    const fresh = await fp.create()
    expect(await queued(fresh)).toBeLessThanOrEqual(8192)
    const [fork] = await fresh.fork(1)
    expect(await queued(fork as Environment)).toBeLessThanOrEqual(8192)
  })

  test('of queues and locked memory, and nobody can raise the limits', async () => {
    const look = `
import resource as r
for kind in (r.RLIMIT_MSGQUEUE, r.RLIMIT_SIGPENDING, r.RLIMIT_MEMLOCK, r.RLIMIT_RTPRIO, r.RLIMIT_NICE, r.RLIMIT_NOFILE):
    try:
        r.setrlimit(kind, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print('raised')
    except (ValueError, OSError): print(r.getrlimit(kind)[1])
`
    const most = [819_200, 8192, 64 * 2 ** 20, 0, 0, 524_288]
    const found = (await python(env, look)).split('\n').map(Number)
    expect(found).toHaveLength(most.length)
    for (const [index, bound] of most.entries()) expect(found[index]).toBeLessThanOrEqual(bound)
  })
})

test('kernel settings are raised to what environments need, if the host allows it', () => {
  for (const { name, enough } of kernelLimits) {
    expect(BigInt(readFileSync(`/proc/sys/${name}`, 'utf8').trim()), name).toBeGreaterThanOrEqual(
      enough,
    )
  }
})

test('six hundred pipes do not prevent a snapshot', async () => {
  const holder = await fp.create()
  const hold =
    'import os,time; p=[os.pipe() for _ in range(600)]; print(len(p),flush=True); time.sleep(600)'
  await holder.exec(
    `python3 -c '${hold}' > /tmp/out & until grep -q 600 /tmp/out; do sleep 0.1; done`,
  )
  const [fork] = await holder.fork(1)
  expect((await fork?.exec('ls /proc/$(pgrep -f os.pipe)/fd | wc -l'))?.stdout.trim()).toBe('1203')
})

describe("the list of other volumes and of the host's disks", () => {
  const look = `
cat /proc/partitions /proc/diskstats /proc/swaps /proc/interrupts
ls -A /proc/fs /proc/irq /sys/fs /sys/devices/virtual/block /sys/firmware | grep -v :$
find /sys -name backing_file
grep -rs ${home.path} /sys/block/*/loop /sys/class/block/*/loop /sys/dev/block/*/loop
true`

  test('is empty, in a fork too', async () => {
    const [fork] = await env.fork(1)
    for (const one of [env, fork as Environment]) {
      const { stdout } = await one.exec(['bash', '-c', look], { mode: 'process' })
      expect(stdout.trim()).toBe('')
    }
  })

  const masks = ['/sys/devices/virtual/block', '/sys/fs', '/proc/partitions', '/proc/fs']

  // The program umount is setuid root, but only for the cell's root.
  const unmasking = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for path in sys.argv[2:]:
    assert libc.umount2(path.encode(), 0) == 0, path
options = b'ptmxmode=666,mode=620,gid=' + sys.argv[1].encode()
assert libc.mount(b'devpts', b'/dev/pts', b'devpts', 32 | 2 | 8, options) == 0, ctypes.get_errno()
`

  /** As an earlier version made it. */
  async function makeOlder(): Promise<Environment> {
    const older = await fp.create()
    const pid = agentPid(home, older)
    const [, base = ''] = readFileSync(`/proc/${pid}/gid_map`, 'utf8').trim().split(/\s+/)
    const words = ['--target', String(pid), '--mount', '/usr/bin/python3', '-c', unmasking]
    execFileSync('nsenter', [...words, String(Number(base) + 5), ...masks])
    expect(
      (await older.exec('ls /sys/devices/virtual/block; cat /proc/partitions')).stdout,
    ).toMatch(/loop/)
    expect((await older.exec('grep devpts /proc/self/mountinfo')).stdout).not.toContain('max=')
    return older
  }

  async function expectHidden(one: Environment): Promise<void> {
    const { stdout } = await one.exec(['bash', '-c', look], { mode: 'process' })
    expect(stdout.trim()).toBe('')
    expect((await one.exec('grep devpts /proc/self/mountinfo')).stdout).toContain(',max=512')
    const owner = 'import os; print(os.fstat(os.openpty()[1]).st_gid)'
    expect(await python(one, owner)).toBe('5')
  }

  test('is empty after a restore from a snapshot of an earlier version', async () => {
    const older = await makeOlder()
    const [fork] = await older.fork(1)
    await expectHidden(fork as Environment)
  })

  test('is empty in an environment that still runs from an earlier version, once the home is opened', async () => {
    const older = await makeOlder()
    const [group = ''] = cgroupsOf(home, older)
    chmodSync(dirname(group), 0o755)
    await home.open()
    await expectHidden(older)
  })

  test('still has what programs look for', async () => {
    const files = ['/sys/devices/system/cpu/online', '/proc/meminfo', '/proc/cpuinfo', '/proc/stat']
    const words = `cat ${files.join(' ')} > /dev/null && ls /sys/class/net && nproc && free > /dev/null`
    expect((await env.exec(words)).stdout).toMatch(/^lo\n\d+\n$/)
  })
})

describe('what one environment holds open', () => {
  /** Holds what the script opens until the environment ends. */
  async function hold(of: Environment, script: string): Promise<void> {
    await of.files.write(
      '/tmp/hold.py',
      `${script}\nprint('held', flush=True)\nwhile True: time.sleep(99)\n`,
    )
    const { stdout } = await of.exec(
      `mkfifo /tmp/held; python3 /tmp/hold.py > /tmp/held 2>&1 & read -t 60 line < /tmp/held; echo "$line"`,
    )
    expect(stdout).toContain('held')
  }

  const files = 'import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (16000, 16000))'
  const pipes = (count: number) =>
    `import os, time\n${files}\nheld = [os.pipe() for _ in range(${count})]`
  const inFlight = `
import array, os, socket, time
${files}
null = os.open('/dev/null', 0)
held = []
def send_many():
    for _ in range(100):
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        held.append(ends)
        for _ in range(80):
            try: ends[0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [null] * 250))], socket.MSG_DONTWAIT)
            except OSError: return
send_many()
`

  test.each([1000, 1500])('%i pipes are in its snapshots', async (count) => {
    const own = await fp.create()
    await hold(own, pipes(count))
    const [copy] = await own.fork(1)
    for (const one of [own, copy as Environment]) {
      const { stdout } = await one.exec('ls /proc/$(pgrep -f hold.py)/fd | wc -l')
      expect(Number(stdout)).toBeGreaterThanOrEqual(2 * count)
      await one.remove()
    }
  })

  test.each([
    ['1,500 pipes', pipes(1500)],
    ['as many descriptors in flight as possible', inFlight],
  ])('%s do not prevent snapshots and forks of a neighbour', async (_, script) => {
    const hostile = await fp.create()
    await hold(hostile, script)
    const neighbour = await fp.create()
    await neighbour.exec('exec 7<> <(:); X=kept')
    await neighbour.snapshot()
    const [copy] = await neighbour.fork(1)
    for (const one of [neighbour, copy as Environment]) {
      expect((await one.exec('echo $X')).stdout).toBe('kept\n')
      await one.remove()
    }
    await hostile.remove()
  })
})

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { hostPids, statusField } from '../support/cell-processes.ts'
import { environmentPlaces } from '../support/environment-places.ts'
import { systemCall } from '../support/system-call.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('isolation')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()
const env = await fp.create({ name: 'prisoner' })

const sh = async (script: string) =>
  (await env.exec(['bash', '-c', script], { mode: 'process' })).stdout

/** The exit code of a script run by root inside. */
const codeOf = async (script: string) =>
  (await env.exec(['bash', '-c', script], { mode: 'process' })).exitCode

describe('root inside cannot touch the kernel of the host', () => {
  test.each([
    'kernel/core_pattern',
    'kernel/hostname',
    'kernel/panic',
    'vm/drop_caches',
    'vm/overcommit_memory',
    'fs/file-max',
    'net/ipv4/ip_forward',
  ])('/proc/sys/%s cannot be written', async (name) => {
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8')
    expect(await codeOf(`echo 1 > /proc/sys/${name}`)).not.toBe(0)
    expect(await codeOf(`mount -o remount,rw /proc/sys`)).not.toBe(0)
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before)
  })

  test('/proc/sysrq-trigger, /proc/irq and /sys cannot be written', async () => {
    expect(await codeOf('echo h > /proc/sysrq-trigger')).not.toBe(0)
    expect(await sh('find /proc/irq -type f -writable -exec sh -c "echo 1 > {}" \\; -print')).toBe(
      '',
    )
    expect(await codeOf('echo 1 > /sys/kernel/profiling')).not.toBe(0)
    expect(await codeOf('mount -o remount,rw /sys')).not.toBe(0)
  })

  test('no memory or keys of the kernel are visible', async () => {
    expect(await sh('cat /proc/kcore /proc/keys /proc/timer_list /proc/kmsg; dmesg')).toBe('')
  })

  test('setting the clock and loading modules is refused', async () => {
    expect(await codeOf('date -s 2001-01-01')).not.toBe(0)
    expect(await systemCall(env, 'init_module')).toBe('EPERM')
    expect(await systemCall(env, 'bpf')).toBe('EPERM')
    expect(await systemCall(env, 'open_by_handle_at')).toBe('EPERM')
    expect(await systemCall(env, 'reboot')).toBe('EPERM')
  })

  test('io_uring does not seem to exist, so that programs do without it', async () => {
    expect(await systemCall(env, 'io_uring_setup')).toBe('ENOSYS')
  })

  test('32-bit system calls are no way around', async () => {
    // x32: the number of bpf with the x32 bit set
    expect(await systemCall(env, 0x4000_0000 + 321)).toBe('ENOSYS')
  })
})

describe('root inside cannot make mounts, devices or namespaces', () => {
  test('mounts of any kind are refused', async () => {
    expect(await codeOf('mount -t tmpfs x /mnt')).not.toBe(0)
    expect(await codeOf('mount -t ext4 /dev/vda /mnt')).not.toBe(0)
    expect(await codeOf('mount -t overlay -o lowerdir=/etc:/usr x /mnt')).not.toBe(0)
    expect(await codeOf('mount --bind /root /mnt')).not.toBe(0)
    expect(await codeOf('mount -t proc x /mnt')).not.toBe(0)
    expect(await codeOf('umount /proc/sys')).not.toBe(0)
    expect(await codeOf('umount -l /dev')).not.toBe(0)
    expect(await codeOf('mount -o remount,rw /dev')).not.toBe(0)
  })

  test('devices cannot be made', async () => {
    expect(await codeOf('mknod /root/disk b 254 0')).not.toBe(0)
    expect(await codeOf('mknod /root/mem c 1 1')).not.toBe(0)
    expect(await codeOf('losetup -f')).not.toBe(0)
  })

  test('only harmless devices exist, and /dev cannot be changed', async () => {
    const devices = await sh('find /dev -type c -o -type b | grep -v ^/dev/pts/[0-9] | sort')
    expect(devices.split('\n').filter(Boolean)).toEqual([
      '/dev/full',
      '/dev/null',
      '/dev/pts/ptmx',
      '/dev/random',
      '/dev/tty',
      '/dev/urandom',
      '/dev/zero',
    ])
    for (const change of [
      'rm /dev/null',
      'touch /dev/x',
      'chmod 600 /dev/zero',
      'mv /dev/tty /dev/t',
    ]) {
      expect(await codeOf(change), change).not.toBe(0)
    }
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  test('namespaces cannot be made or entered', async () => {
    expect(await codeOf('unshare -U true')).not.toBe(0)
    expect(await codeOf('unshare -m true')).not.toBe(0)
    expect(await codeOf('unshare -n true')).not.toBe(0)
    expect(await codeOf('nsenter -t 1 -m true')).not.toBe(0)
    expect(await systemCall(env, 'unshare', 0x1000_0000)).toBe('EPERM')
    expect(await systemCall(env, 'clone3')).toBe('ENOSYS')
  })

  test('root has the documented capabilities and no more', async () => {
    // chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw
    // sys_chroot audit_write setfcap
    const documented = '00000000a00425fb'
    expect(await sh('grep -E "Cap(Prm|Eff|Bnd)" /proc/self/status')).toBe(
      ['Prm', 'Eff', 'Bnd'].map((name) => `Cap${name}:\t${documented}\n`).join(''),
    )
    expect(await sh('grep -E "Cap(Inh|Amb)" /proc/self/status')).toBe(
      'CapInh:\t0000000000000000\nCapAmb:\t0000000000000000\n',
    )
    expect(await sh('grep ^Seccomp: /proc/self/status')).toBe('Seccomp:\t2\n')
  })
})

describe('root inside sees and reaches only its own environment', () => {
  test('processes of the host are invisible and cannot be signalled or traced', async () => {
    expect(await sh('cat /proc/1/comm')).toBe('agent\n')
    const commands = await sh('cat /proc/[0-9]*/comm')
    expect(commands).not.toContain('node')
    expect(await codeOf(`kill -0 ${process.pid}`)).not.toBe(0)
    expect(await codeOf(`test -e /proc/${process.pid}/root`)).not.toBe(0)
    expect(await systemCall(env, 'ptrace', 16, process.pid)).toBe('ESRCH')
  })

  test('a signal to every process reaches none outside', async () => {
    const other = await fp.create()
    const background = await other.spawn(['sleep', '100'], { mode: 'process' })
    await env.exec(['bash', '-c', 'kill -9 -1'], { mode: 'process' })
    expect((await other.exec('pgrep -c sleep')).stdout).toBe('1\n')
    await background.signal('SIGKILL')
    await other.remove()
    expect((await env.exec('echo alive')).stdout).toBe('alive\n')
  })

  test('neither the store nor the files of another environment can be found', async () => {
    const other = await fp.create()
    await other.exec('echo private > /root/private')
    expect(existsSync(join(environmentPlaces(home.path, other.id).upper, 'root/private'))).toBe(
      true,
    )
    expect(await codeOf(`ls ${home.path}`)).not.toBe(0)
    expect(await codeOf('cat /root/private')).not.toBe(0)
    expect(await sh(`grep -o "${other.id}" /proc/self/mountinfo /proc/self/mounts`)).toBe('')
    await other.remove()
  })

  test('/proc/1/root and /proc/1/cwd do not lead outside', async () => {
    expect(await codeOf(`ls /proc/1/root${home.path}`)).not.toBe(0)
    expect(await codeOf('ls /proc/1/cwd/../../../../etc/shadow-')).not.toBe(0)
    expect(await sh('ls /proc/1/fd -l | grep -c volume')).toBe('0\n')
  })

  test('message queues and shared memory of the host are not shared', async () => {
    expect(await sh('ipcs -m | grep -c 0x; ipcs -q | grep -c 0x')).toBe('0\n0\n')
  })
})

describe('nothing is inherited from the process that made it', () => {
  test('neither variables nor open files', async () => {
    process.env.FORKPOINT_TEST_SECRET = 'from-the-host'
    const made = await fp.create()
    delete process.env.FORKPOINT_TEST_SECRET
    const look = 'env; cat /proc/[0-9]*/environ; readlink /proc/1/fd/*'
    const { stdout } = await made.exec(look)
    expect(stdout).not.toContain('from-the-host')
    expect(stdout).not.toContain('FORKPOINT')
    const opened = stdout.split('\n').filter((line) => line.startsWith('/') && !line.includes('='))
    expect(opened.filter((path) => !/^\/(dev|proc|\.forkpoint\/run)\//.test(path))).toEqual([])
    await made.remove()
  })
})

describe('users inside are other users on the host', () => {
  test('root inside is neither root outside nor anyone in another environment', async () => {
    const rootOf = (of: Environment) => {
      const ids = hostPids(home, of).flatMap((pid) => statusField(pid, 'Uid').split('\t'))
      return [...new Set(ids)]
    }
    const [own = '', ...others] = rootOf(env)
    expect(others).toEqual([])
    expect(Number(own)).toBeGreaterThanOrEqual(1_000_000 + 65_536)
    const neighbour = await fp.create()
    const [theirs = ''] = rootOf(neighbour)
    expect(Math.abs(Number(theirs) - Number(own))).toBeGreaterThanOrEqual(65_536)
    await neighbour.remove()
  })

  test('files made inside belong to shifted ids on the disk', async () => {
    await sh('echo x > /root/made; echo x > /root/daemons; chown 1:65534 /root/daemons')
    const { upper } = environmentPlaces(home.path, env.id)
    const ownerOf = (name: string) => {
      const { uid, gid } = statSync(join(upper, 'root', name))
      return [uid, gid]
    }
    expect(ownerOf('made')).toEqual([1_000_000, 1_000_000])
    expect(ownerOf('daemons')).toEqual([1_000_001, 1_065_534])
  })

  test('a setuid file made inside is not setuid root on the host', async () => {
    await sh('cp /usr/bin/id /root/suid && chmod 4755 /root/suid')
    expect(statSync(join(environmentPlaces(home.path, env.id).upper, 'root/suid')).uid).toBe(
      1_000_000,
    )
  })
})

describe('setuid programs', () => {
  const script = 'cp /usr/bin/id /tmp/suid-id; chmod 4755 /tmp/suid-id'
  const asNobody = { mode: 'process', user: 'nobody', cwd: '/' } as const

  test('work inside, as sudo needs it', async () => {
    await sh(script)
    expect((await env.exec(['/tmp/suid-id', '-u'], asNobody)).stdout).toBe('0\n')
  })

  test('do not work with the setting noNewPrivs', async () => {
    const strict = await (await home.open({ noNewPrivs: true })).create()
    await strict.exec(script)
    const { stdout } = await strict.exec(['/tmp/suid-id', '-u'], asNobody)
    expect(stdout).toBe('65534\n')
    await strict.remove()
  })
})

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, run } from './peer.ts'
import { add, type Samples, timed } from './samples.ts'
import { ticking } from './workload.ts'

/** Makes the root file system the root of a new mount namespace, and the shell its first process. */
const enter = `
mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc &&
pivot_root . old && umount -l /old && exec bash -c "$2" < /dev/null > /dev/null 2>&1`

/** The same workload in a bare pid and mount namespace, with nothing around CRIU. */
export async function startPlainCriu(dir: string, rootfs: string, criu: string): Promise<Peer> {
  mkdirSync(dir)
  const parent = spawn(
    'unshare',
    ['--pid', '--mount', '--fork', 'setsid', 'bash', '-c', enter, 'enter', rootfs, ticking],
    { stdio: 'ignore', detached: true },
  )
  await sleep(500)
  let pid = childOf(parent.pid ?? 0)
  const images = join(dir, 'images')
  return {
    round: async (samples: Samples) => {
      rmSync(images, { recursive: true, force: true })
      mkdirSync(images)
      const dump = ['dump', '--tree', String(pid), '--images-dir', images]
      const taken = await timed(() => run(join(criu, 'criu'), [...dump, ...common]))
      add(samples, 'criu dump', taken.ms)
      const pidfile = join(images, 'pid')
      const restore = `mount --bind "$1" "$1" && shift && exec "$@"`
      const words = ['--mount', 'bash', '-c', restore, 'restore', rootfs, join(criu, 'criu')]
      words.push('restore', '--images-dir', images, '--root', rootfs, '--pidfile', pidfile)
      const restored = await timed(() =>
        run('unshare', [...words, '--restore-detached', ...common]),
      )
      add(samples, 'criu restore', restored.ms)
      pid = Number(readFileSync(pidfile, 'utf8'))
    },
    [Symbol.asyncDispose]: async () => {
      process.kill(pid, 'SIGKILL')
      await sleep(100)
    },
  }
}

const common = ['--manage-cgroups=ignore', '--log-file', 'log']

function childOf(parent: number): number {
  const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim()
  if (!/^\d+$/.test(text)) throw new Error('the bare workload did not start')
  return Number(text)
}

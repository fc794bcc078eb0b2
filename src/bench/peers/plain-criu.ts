import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { timed } from '../recorder.ts'
import { runTool } from '../run-tool.ts'
import type { Peer, PeerKind, PeerProgram, PeerStage } from './peer.ts'
import { readyInFile } from './ready.ts'

/** Makes the root file system the root of a new mount namespace, and the shell its first process. */
const enter = `
mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc &&
pivot_root . old && umount -l /old && exec bash -c "$2" < /dev/null > "$3" 2>&1`

const restoreThere = `mount --bind "$1" "$1" && shift && exec "$@"`
const common = ['--manage-cgroups=ignore', '--log-file', 'log']

/** The workload in a bare pid and mount namespace, with nothing around CRIU. */
export const plainCriu: PeerKind = {
  by: 'criu',
  title: 'plain CRIU',
  whyNot: async () => null,
  start: startPlainCriu,
}

async function startPlainCriu(stage: PeerStage, program: PeerProgram): Promise<Peer> {
  const { rootfs, quickCriu: criu } = stage
  const images = join(stage.dir, `criu-${program.slug}`)
  const place = `/tmp/criu-${program.slug}`
  const out = `${place}.out`
  const words = ['setsid', 'bash', '-c', enter, 'enter', rootfs, program.command(place), out]
  const parent = spawn('unshare', ['--pid', '--mount', '--fork', ...words], {
    stdio: 'ignore',
    detached: true,
  })
  await readyInFile(join(rootfs, out))
  let pid = childOf(parent.pid ?? 0)
  return {
    by: 'criu',
    round: async (note) => {
      rmSync(images, { recursive: true, force: true })
      mkdirSync(images)
      const dump = ['dump', '--tree', String(pid), '--images-dir', images, ...common]
      note('snapshot', (await timed(() => runTool(criu, dump))).ms)
      await runTool('sync', ['--file-system', images])
      const pidfile = join(images, 'pid')
      const restore = ['restore', '--images-dir', images, '--root', rootfs, '--pidfile', pidfile]
      const there = ['--mount', 'bash', '-c', restoreThere, 'restore', rootfs, criu]
      const all = [...there, ...restore, '--restore-detached', ...common]
      note('restore', (await timed(() => runTool('unshare', all))).ms)
      pid = Number(readFileSync(pidfile, 'utf8'))
    },
    [Symbol.asyncDispose]: async () => {
      process.kill(pid, 'SIGKILL')
      await sleep(100)
      rmSync(images, { recursive: true, force: true })
    },
  }
}

function childOf(parent: number): number {
  const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim()
  if (!/^\d+$/.test(text)) throw new Error('the bare workload did not start')
  return Number(text)
}

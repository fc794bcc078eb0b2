import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { timed } from '../recorder.ts'
import { runTool, versionOf } from '../run-tool.ts'
import { containersOf, removeCgroups } from './cgroups.ts'
import type { Peer, PeerKind, PeerProgram, PeerStage } from './peer.ts'
import { readyInFile } from './ready.ts'

/** Limits that a restricted root need not raise, and runc, because crun needs other cgroups. */
const configuration = `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`

/** The workload in a container, with its own storage and the same CRIU as ours. */
export const podman: PeerKind = {
  by: 'podman',
  title: 'podman container checkpoint and restore',
  whyNot: async () => {
    for (const program of ['podman', 'runc']) {
      if ((await versionOf(program)) === null) return `${program} is not installed`
    }
    return null
  },
  start: startPodman,
}

async function startPodman(stage: PeerStage, program: PeerProgram): Promise<Peer> {
  const dir = join(stage.dir, `podman-${program.slug}`)
  mkdirSync(dir)
  const config = join(dir, 'containers.conf')
  writeFileSync(config, configuration)
  const PATH = `${dirname(stage.criu)}:${process.env.PATH}`
  const env = { ...process.env, CONTAINERS_CONF: config, PATH }
  const storage = ['--root', join(dir, 'storage'), '--runroot', join(dir, 'run')]
  const call = (...words: string[]) =>
    runTool('podman', [...storage, '--storage-driver', 'vfs', ...words], { env })
  const name = `${containersOf(process.pid)}-${program.slug}`
  const place = `/tmp/podman-${program.slug}`
  const options = ['--detach', '--name', name, '--network', 'none', '--log-driver', 'none']
  options.push('--cgroup-parent', `/${name}`)
  const command = `exec > ${place}.out 2>&1; ${program.command(place)}`
  const peer: Peer = {
    by: 'podman',
    round: async (note) => {
      note('snapshot', (await timed(() => call('container', 'checkpoint', name))).ms)
      await runTool('sync', ['--file-system', dir])
      note('restore', (await timed(() => call('container', 'restore', name))).ms)
    },
    [Symbol.asyncDispose]: async () => {
      await call('rm', '--force', '--ignore', '--time', '0', name)
      await removeCgroups(name)
    },
  }
  await using undo = new AsyncDisposableStack()
  undo.use(peer)
  await call('run', ...options, '--rootfs', stage.rootfs, 'bash', '-c', command)
  await readyInFile(join(stage.rootfs, `${place}.out`))
  undo.move()
  return peer
}

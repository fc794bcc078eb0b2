import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Peer, run } from './peer.ts'
import { add, type Samples, timed } from './samples.ts'
import { ticking } from './workload.ts'

/** Limits are left as they are (a restricted root cannot raise them); crun wants other cgroups. */
const configuration = `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`

/** Why there is none to compare with; null if there is. */
export async function whyNoPodman(): Promise<string | null> {
  for (const program of ['podman', 'runc']) {
    const found = await run(program, ['--version']).catch(() => null)
    if (found === null) return `${program} is not installed`
  }
  return null
}

/** A container of the workload, with a storage of its own and the same CRIU as ours. */
export async function startPodman(dir: string, rootfs: string, criu: string): Promise<Peer> {
  mkdirSync(dir)
  const config = join(dir, 'containers.conf')
  writeFileSync(config, configuration)
  const env = { ...process.env, CONTAINERS_CONF: config, PATH: `${criu}:${process.env.PATH}` }
  const storage = ['--root', join(dir, 'storage'), '--runroot', join(dir, 'run')]
  const podman = (...words: string[]) =>
    run('podman', [...storage, '--storage-driver', 'vfs', ...words], { env })
  const name = `forkpoint-bench-${process.pid}`
  const options = ['--detach', '--name', name, '--network', 'none', '--log-driver', 'none']
  options.push('--cgroup-parent', `/${name}`)
  await podman('run', ...options, '--rootfs', rootfs, 'bash', '-c', ticking)
  return {
    round: async (samples: Samples) => {
      const taken = await timed(() => podman('container', 'checkpoint', name))
      add(samples, 'podman container checkpoint', taken.ms)
      const restored = await timed(() => podman('container', 'restore', name))
      add(samples, 'podman container restore', restored.ms)
    },
    [Symbol.asyncDispose]: async () => {
      await podman('rm', '--force', '--time', '0', name)
      await removeCgroups(name)
    },
  }
}

/** Podman leaves the groups above its container's, and its monitor ends a moment later. */
async function removeCgroups(name: string): Promise<void> {
  const below = ['/sys/fs/cgroup', '-mindepth', '1', '-path', `*/${name}*`, '-depth', '-type', 'd']
  for (let tries = 0; tries < 20; tries += 1) {
    await run('find', [...below, '-exec', 'rmdir', '--ignore-fail-on-non-empty', '{}', ';'])
    if ((await run('find', below)).stdout === '') return
    await sleep(50)
  }
}

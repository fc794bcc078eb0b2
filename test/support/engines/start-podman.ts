import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installEngine } from '../../setup/install-engine.ts'
import { type EngineProcess, engineDirectory, startEngine } from './engine-process.ts'

// Without limits of its own, Podman asks for more than a process without CAP_SYS_RESOURCE may have; its
// API exchanges the two numbers of each, so they are the same (4.3).
// Otherwise the monitor of each exec would stay for five minutes.
const settings = `
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
exit_command_delay = 1
events_logger = "none"
cgroup_manager = "cgroupfs"
runtime = "runc"
`

const criu = join(process.env.FORKPOINT_RUNTIME ?? '/var/lib/forkpoint-runtime', 'criu/bin')

/** Podman's API service, with storage of its own. It finds the private CRIU. */
export function startPodman(): Promise<EngineProcess> {
  installEngine('podman')
  const directory = engineDirectory()
  const at = (name: string) => join(directory, name)
  writeFileSync(at('containers.conf'), settings)
  return startEngine(directory, at('s'), {
    program: 'podman',
    cgroup: 'libpod_parent',
    arguments: [
      ...['--root', at('data'), '--runroot', at('run'), '--tmpdir', at('tmp')],
      ...['--storage-driver', 'overlay', '--network-config-dir', at('net')],
      ...['system', 'service', '--time=0', `unix://${at('s')}`],
    ],
    env: {
      CONTAINERS_CONF: at('containers.conf'),
      PATH: `${criu}:${process.env.PATH}`,
      // It leaves every image that it imported there.
      TMPDIR: directory,
    },
  })
}

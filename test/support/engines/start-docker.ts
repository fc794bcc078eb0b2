import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installEngine } from '../../setup/install-engine.ts'
import { type EngineProcess, engineDirectory, startEngine } from './engine-process.ts'

const criu = join(process.env.FORKPOINT_RUNTIME ?? '/var/lib/forkpoint-runtime', 'criu/bin')

/** What Docker does not ask of CRIU: connections within the container, and locks. */
const criuSettings = 'tcp-established\nfile-locks\n'

/** A Docker engine with a bridge of its own. */
export function startDocker(): Promise<EngineProcess> {
  return start({})
}

/** The same with checkpoints. It finds the private CRIU. */
export function startExperimentalDocker(): Promise<EngineProcess> {
  return start({ experimental: true })
}

function start(settings: { readonly experimental?: true }): Promise<EngineProcess> {
  installEngine('dockerd')
  const directory = engineDirectory()
  const at = (name: string) => join(directory, name)
  const config = at('daemon.json')
  writeFileSync(config, JSON.stringify(settings))
  writeFileSync(at('criu.conf'), criuSettings)
  return startEngine(directory, at('s'), {
    program: 'dockerd',
    cgroup: 'docker',
    arguments: [
      ...['--data-root', at('data'), '--exec-root', at('run'), '--pidfile', at('pid')],
      ...['-H', `unix://${at('s')}`, '--config-file', config],
      ...['--iptables=false', '--ip6tables=false', '--shutdown-timeout=1'],
    ],
    env: { PATH: `${criu}:${process.env.PATH}`, CRIU_CONFIG_FILE: at('criu.conf') },
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { timed } from '../recorder.ts'
import { runTool, versionOf } from '../run-tool.ts'
import { containersOf, removeCgroups } from './cgroups.ts'
import type { Peer, PeerKind, PeerProgram, PeerStage } from './peer.ts'
import { startUntilReady } from './ready.ts'

/** Keeps files only: its restore starts the program again, from the committed image. */
export const docker: PeerKind = {
  by: 'docker',
  title: 'docker commit and run',
  whyNot: async () => {
    for (const program of ['docker', 'dockerd', 'containerd', 'runc']) {
      if ((await versionOf(program)) === null) return `${program} is not installed`
    }
    return null
  },
  start: startDocker,
}

async function startDocker(stage: PeerStage, program: PeerProgram): Promise<Peer> {
  const dir = join(stage.dir, `docker-${program.slug}`)
  mkdirSync(dir)
  await using undo = new AsyncDisposableStack()
  const name = `${containersOf(process.pid)}-${program.slug}-docker`
  undo.defer(() => removeCgroups(name))
  const daemon = startDaemon(dir)
  undo.defer(() => endDaemon(daemon))
  const host = ['-H', socketOf(dir)]
  const call = (...words: string[]) => runTool('docker', [...host, ...words])
  await daemonAnswers(call)
  await runTool('bash', [
    '-c',
    `tar -C "$0" -c . | docker ${host.join(' ')} import - base`,
    stage.rootfs,
  ])
  const options = ['--network', 'none', '--cgroup-parent', `/${name}`]
  const command = ['bash', '-c', program.command('/tmp/docker')]
  const start = (container: string, image: string) =>
    startUntilReady('docker', [...host, 'run', '--name', container, ...options, image, ...command])
  const remove = (container: string) => call('rm', '--force', container)
  undo.defer(async () => void (await remove('original')))
  await start('original', 'base')
  const ready = undo.move()
  return {
    by: 'docker',
    round: async (note) => {
      note('snapshot', (await timed(() => call('commit', 'original', 'kept'))).ms)
      note('restore', (await timed(() => start('copy', 'kept'))).ms)
      await remove('copy')
      await call('rmi', '--force', 'kept')
    },
    [Symbol.asyncDispose]: () => ready.disposeAsync(),
  }
}

const socketOf = (dir: string) => `unix://${join(dir, 'socket')}`

/** Our own daemon, with everything in the directory, and no network. */
function startDaemon(dir: string): ChildProcess {
  const log = openSync(join(dir, 'log'), 'w')
  const places = ['--data-root', join(dir, 'data'), '--exec-root', join(dir, 'exec')]
  const network = ['--iptables=false', '--ip6tables=false', '--bridge=none']
  const words = [...places, ...network, '--pidfile', join(dir, 'pid'), '-H', socketOf(dir)]
  return spawn('dockerd', words, { stdio: ['ignore', log, log] })
}

async function daemonAnswers(call: (...words: string[]) => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    // It fails until the daemon listens; whoever waits too long gets the error below.
    const answered = await call('info').catch(() => null)
    if (answered !== null) return
    await sleep(100)
  }
  throw new Error('dockerd does not answer')
}

async function endDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
}

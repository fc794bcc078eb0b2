import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execCommand } from '../../../agent/commands/exec.ts'
import { greeted } from '../../../agent/wire/connect.ts'
import { AgentConnection } from '../../../agent/wire/connection.ts'
import { openAgentSocket, type SocketIdentity } from '../../../agent/wire/socket.ts'
import { criuFailure } from '../../../criu/criu-failure.ts'
import { firstFd } from '../../../criu/foreign/criu-inside.ts'
import { adoptedOptions } from '../../../criu/foreign/dump-foreign.ts'
import { selfIdentity } from '../../../linux/process-identity.ts'
import type { Adopted } from '../instance.ts'
import type { LifePlaces } from '../places.ts'
import type { Plain } from '../plain.ts'

/**
 * With this image, CRIU makes a time namespace, which the agent would not be in: then the next dump fails.
 * It is needed only if the clocks began again at a reboot.
 */
export const clocks = 'timens-0.img'

interface Restore {
  readonly socket: SocketIdentity
  readonly images: string
  readonly adopted: Adopted
}

/**
 * Has a new agent restore processes that were captured without one. They become its children, because it
 * adopts orphans, so the next snapshot captures them with it.
 */
export async function restoreAdopted(
  { criu, logs }: Plain,
  { dir, socket: path }: LifePlaces,
  { socket, images, adopted }: Restore,
): Promise<void> {
  await using connection = new AgentConnection(await openAgentSocket(path, socket))
  await greeted(connection)
  if (adopted.bootId !== selfIdentity().bootId) {
    await copyFile(join(images, '..', clocks), join(images, clocks))
  }
  const { session, nowhere } = adopted
  const options = ['--restore-detached', '--work-dir', dir, '--log-file', 'restore.log']
  const words = [
    ...[...criu(), 'restore', '--images-dir', images, ...adoptedOptions, ...options],
    ...(session === 'member' ? ['--shell-job'] : []),
    ...(nowhere.some((name) => name.startsWith('socket:')) ? ['--ext-unix-sk'] : []),
    ...nowhere.flatMap((name, index) => ['--inherit-fd', `fd[${firstFd + index}]:${name}`]),
  ]
  const opened = nowhere.map((_, index) => `${firstFd + index}<>/dev/null`)
  // From now on, new processes have small pids again: see native/cell/plain/plain.c.
  const script = `"$@" ${opened.join(' ')} && echo 2 > /proc/sys/kernel/ns_last_pid`
  const { exitCode, stderr } = await execCommand(connection, {
    mode: 'process',
    command: ['bash', '-c', script, 'bash', ...words],
  })
  if (exitCode === 0) return
  throw await criuFailure('restore', join(dir, 'restore.log'), stderr.toString(), logs)
}

import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { BackendError } from '../../model/errors.ts'
import { agentInside, socketInside } from './bundle.ts'
import type { Gvisor } from './gvisor.ts'
import type { LifePlaces } from './places.ts'

/**
 * A stream to the agent: runsc starts a relay inside, which joins its input and output with the agent's socket. Both
 * are one socket here, so that an idle connection does not keep this process alive.
 */
export function connectThrough({ runsc }: Gvisor, life: LifePlaces): Duplex {
  // Without --listener: gVisor answers SO_PEERCRED with the caller itself, so nobody can ask who listens.
  const relay = [agentInside, '--relay', socketInside]
  const child = spawn(
    'sh',
    ['-c', 'exec "$@" <&3 >&3 3>&-', 'sh', ...runsc.words(), 'exec', life.container, ...relay],
    { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const { stderr } = child
  const socket = child.stdio[3]
  if (!(socket instanceof Socket) || stderr === null) {
    throw new BackendError(`no stream to ${life.container}`, { remedy: 'try again' })
  }
  let words = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-1000)
  })
  child.unref()
  if (stderr instanceof Socket) stderr.unref()
  child.once('error', (error) => socket.destroy(unreachable(life, error.message)))
  child.once('exit', (code) => {
    if (code !== 0) socket.destroy(unreachable(life, words.trim() || `exit code ${code}`))
  })
  // A relay whose input has ended ends by itself, unless the sandbox is paused.
  socket.once('close', () => child.kill('SIGKILL'))
  return socket
}

function unreachable({ container }: LifePlaces, why: string): BackendError {
  return new BackendError(`cannot reach the agent in the sandbox ${container}: ${why}`, {
    remedy: 'check with `forkpoint ls` that the environment is running',
  })
}

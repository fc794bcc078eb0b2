import type { CommandHandle, CommandOutput, CommandResult, Environment } from '../../index.ts'
import type { Streams } from '../cli.ts'
import { isConnectionLost, reconnect } from '../reconnect.ts'
import { write } from '../write.ts'

/**
 * Passes on what a command has written and goes on to write, until it ends. An abort leaves the
 * command running: it was started by somebody else.
 */
export async function followCommand(
  environment: Environment,
  id: string,
  streams: Streams,
  signal: AbortSignal,
): Promise<CommandResult> {
  let command = await environment.command(id)
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => {
    command.detach()
    aborted.reject(signal.reason)
  }
  aborted.promise.catch(() => {})
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      try {
        return await Promise.race([passOn(command, streams), aborted.promise])
      } catch (error) {
        if (!isConnectionLost(error)) throw error
        const { offsets } = command
        command = await reconnect(() => environment.command(id, offsets), signal)
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function passOn(command: CommandHandle, streams: Streams): Promise<CommandResult> {
  const pump = async (output: CommandOutput, to: Streams[keyof Streams]) => {
    for await (const chunk of output) await write(to, chunk)
  }
  const [result] = await Promise.all([
    command.wait(),
    pump(command.stdout, streams.stdout),
    pump(command.stderr, streams.stderr),
  ])
  return result
}

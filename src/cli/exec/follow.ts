import type { CommandOutput, CommandResult, Environment, FollowOptions } from '../../index.ts'
import type { Streams } from '../streams.ts'
import { write } from '../write.ts'

/**
 * Passes on all output of a command, old and new, until it ends. An abort leaves the command running,
 * because somebody else started it.
 */
export async function followCommand(
  environment: Environment,
  id: string,
  streams: Streams,
  signal: AbortSignal,
  options: FollowOptions = {},
): Promise<CommandResult> {
  const command = await environment.command(id, options)
  const onAbort = () => command.detach(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    const [result] = await Promise.all([
      command.wait(),
      passOn(command.stdout, streams.stdout),
      passOn(command.stderr, streams.stderr),
    ])
    return result
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function passOn(output: CommandOutput, to: Streams[keyof Streams]): Promise<void> {
  for await (const chunk of output) await write(to, chunk)
}

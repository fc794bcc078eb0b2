import type { AgentConnection } from '../wire/connection.ts'
import type { CommandSpec } from './command-spec.ts'
import { type CommandInfo, listCommands } from './commands.ts'

/** Shorter waits need no explanation. */
const QUIET_MS = 1000

export interface Turn {
  readonly spec: Pick<CommandSpec, 'mode'> & { readonly shell?: string | undefined }
  /** Settles when the command runs, or never will. */
  readonly begun: Promise<unknown>
  readonly connect: () => Promise<AgentConnection>
  readonly onWait: (ahead: CommandInfo) => void
}

/** Reports the command that runs in a shell to somebody whose own command has waited for its turn for a second. */
export function reportWait({ spec, begun, connect, onWait }: Turn): void {
  const { mode, shell = 'main' } = spec
  if (mode === 'process') return
  let waits = true
  const look = async () => {
    const ahead = (await listCommands(await connect())).find(
      (each) => each.running && each.pid !== null && each.mode === 'shell' && each.shell === shell,
    )
    if (waits && ahead !== undefined) onWait(ahead)
  }
  // Only a remark fails: the command itself still waits, and reports what happens to it.
  const timer = setTimeout(() => void look().catch(() => {}), QUIET_MS).unref()
  const stop = () => {
    waits = false
    clearTimeout(timer)
  }
  begun.then(stop, stop)
}

import { execCommand } from '../../agent/commands/exec.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import type { RememberedShell } from '../../model/snapshot.ts'
import { inShell, mostBytes } from './in-shell.ts'

/** Forgets variables that the other shell did not have. */
const forgetting = 'unset -v $(compgen -e 2> /dev/null) 2> /dev/null'

/** Starts the shells of a new life, and gives each what was remembered. */
export async function resumeShells(
  connection: AgentConnection,
  shells: readonly RememberedShell[],
): Promise<void> {
  await Promise.all(
    shells.map(({ name, state }) => {
      // Some variables are read-only in every shell; the others are still set.
      const script = `${forgetting}\n{ ${state}\n} 2> /dev/null || :`
      return execCommand(connection, inShell(name, script), { maxBytes: mostBytes })
    }),
  )
}

import { execCommand } from '../../../agent/commands/exec.ts'
import { statFile } from '../../../agent/files/files.ts'
import type { AgentConnection } from '../../../agent/wire/connection.ts'
import type { EnvironmentRecord } from '../../../model/environment.ts'
import { BackendError, NotFoundError } from '../../../model/errors.ts'

const directory = '/etc/forkpoint/on-fork.d'

/** A hook must not hold up the fork forever. */
const hookTimeoutMs = 60_000

/** Runs each executable file in the hook directory of a new fork once, in order of name. */
export async function runForkHooks(
  connection: AgentConnection,
  record: EnvironmentRecord,
): Promise<void> {
  const script = `for hook in ${directory}/*; do
  [ -x "$hook" ] && [ -f "$hook" ] || continue
  "$hook" || { status=$?; echo "$hook ended with $status" >&2; exit 1; }
done`
  const env = { FORKPOINT_ID: record.id, FORKPOINT_NAME: record.name ?? '' }
  const result = await execCommand(connection, {
    mode: 'process',
    command: ['/bin/sh', '-c', script],
    env,
    timeoutMs: hookTimeoutMs,
  })
  if (result.exitCode === 0) return
  throw new BackendError(`a fork hook in ${directory} failed`, {
    lastWords: result.stderr.toString().trim().split('\n').slice(-5).join('\n'),
    remedy: 'fix or remove the hook in the environment, then take another snapshot',
  })
}

/** Most forks have none, and checking is cheaper than starting a shell. */
export async function hasForkHooks(connection: AgentConnection): Promise<boolean> {
  try {
    return (await statFile(connection, directory)).type === 'directory'
  } catch (error) {
    if (error instanceof NotFoundError) return false
    throw error
  }
}

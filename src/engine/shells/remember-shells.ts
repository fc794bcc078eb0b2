// Where a backend does not capture processes, a snapshot remembers what a new shell can be given.
import { quoteWords } from '../../agent/commands/command-spec.ts'
import { execCommand } from '../../agent/commands/exec.ts'
import { listShells } from '../../agent/environment.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import type { Log } from '../../model/log.ts'
import type { RememberedShell } from '../../model/snapshot.ts'
import { connectTo } from '../agents.ts'
import type { Engine } from '../engine.ts'
import type { LiveRecord } from '../recovery/liveness.ts'
import { inShell, mostBytes, type ShellCommand } from './in-shell.ts'

const mostShells = 64

/**
 * Prints commands that give a new shell the exported variables, the functions and the directory of this one,
 * and leaves `$?` as it was. A shell that is not bash has no functions to print. New shells begin in
 * `workdir`, so one that is there needs no directory.
 */
function describing(workdir: string, cwd: string): string {
  return `__forkpoint=$?
command export -p
{ declare -f; command export -pf; } 2> /dev/null || :
[ . -ef ${quoteWords([workdir])} ] || ${quoteWords(['echo', quoteWords(['cd', '--', cwd])])}
eval "unset __forkpoint; (exit $__forkpoint)"`
}

/** The idle shells of an environment; nobody can ask one that runs a command. */
export async function rememberShells(
  engine: Engine,
  record: LiveRecord,
): Promise<readonly RememberedShell[]> {
  // A paused agent does not answer.
  if (record.status !== 'running') return []
  await using connection = await connectTo(engine, record, record.instance)
  const idle = (await listShells(connection)).filter(({ busy }) => !busy)
  const asked = idle.slice(0, mostShells).map(({ shell, cwd }) => {
    const script = describing(record.workdir, cwd ?? record.workdir)
    return remember(connection, inShell(shell, script), engine.log)
  })
  return (await Promise.all(asked)).filter((shell) => shell !== null)
}

async function remember(
  connection: AgentConnection,
  spec: ShellCommand,
  log: Log,
): Promise<RememberedShell | null> {
  const name = spec.shell
  try {
    const { stdout, exitCode } = await execCommand(connection, spec, { maxBytes: mostBytes })
    return exitCode === null ? null : { name, state: stdout.toString() }
  } catch (error) {
    // The snapshot is whole without it: a new shell begins as shells of the environment begin.
    log.warn({ shell: name, err: error }, 'the variables of a shell are not in the snapshot')
    return null
  }
}

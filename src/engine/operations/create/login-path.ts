import { execCommand } from '../../../agent/commands/exec.ts'
import type { EnvironmentRecord, Instance } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import { connectTo } from '../../agents.ts'
import type { Engine } from '../../engine.ts'

/** The files of a login may start other programs, such as pyenv. */
const longestMs = 20_000
const longestPath = 32_768
/** Before the path, because those files may print anything. */
const mark = '__forkpoint_path='

/**
 * The PATH that a user has after a login, with what `~/.profile` and `~/.bashrc` add to it. `-i`, because many
 * files do nothing in a shell that is not interactive.
 */
export async function loginPath(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<string> {
  await using connection = await connectTo(engine, record, instance)
  const { exitCode, stdout, stderr } = await execCommand(connection, {
    mode: 'process',
    command: ['bash', '-lic', `printf '\\n%s%s\\n' '${mark}' "$PATH"`],
    timeoutMs: longestMs,
  })
  const line = stdout
    .toString()
    .split('\n')
    .findLast((each) => each.startsWith(mark))
  const path = line?.slice(mark.length) ?? ''
  if (path !== '' && path.length <= longestPath) return path
  throw new BackendError(`the login shell of ${record.name ?? record.id} did not tell its PATH`, {
    remedy: 'create it without `login`, and give the path with `-e PATH=…`',
    detail: { exitCode },
    lastWords: stderr.toString().slice(-1000),
  })
}

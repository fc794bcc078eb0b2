import type { Environment } from '../../../src/index.ts'
import { LineReader } from './line-reader.ts'
import { type Results, readResults } from './results.ts'
import type { User } from './states.ts'

/** Where the program is, inside. */
export const programInside = '/attacks'

export interface Pass {
  readonly user: User
  readonly variables: Readonly<Record<string, string>>
  /** only these; by default all that need no network */
  readonly names?: readonly string[]
  /** what the host sees while the attacks hold what they took, as lines from the watcher */
  readonly look: () => Promise<readonly string[]>
}

/** Runs the attacks inside, looks from outside, and lets them end. */
export async function attackEnvironment(env: Environment, pass: Pass): Promise<Results> {
  const command = await env.spawn([programInside, 'run', ...(pass.names ?? [])], {
    mode: 'process',
    user: pass.user,
    cwd: '/',
    env: pass.variables,
    stdin: 'streamed',
  })
  command.stderr.discard()
  const lines = await new LineReader(command.stdout).until('done')
  const seen = await pass.look()
  await command.endStdin()
  await command.wait()
  return readResults(lines, seen)
}

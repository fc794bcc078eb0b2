import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { noteKill } from './evidence.ts'
import type { TestHome } from './test-home.ts'

const program = fileURLToPath(new URL('../faults/programs/lifecycle.ts', import.meta.url))

export interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** Another Forkpoint process on the same home, to its end. */
export async function runProgram(
  home: TestHome,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const result = await ended(startProgram(home, words, variables))
  noteKill(variables.FORKPOINT_KILL_AT, result.signal)
  return result
}

export function startProgram(
  home: TestHome,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  stdout: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...words], {
    env: { ...process.env, FORKPOINT_HOME: home.path, ...home.variables, ...variables },
    stdio: ['ignore', stdout, 'pipe'],
  })
}

export async function ended(child: ChildProcess): Promise<Ended> {
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { exitCode, signal, stderr }
}

import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk'
import type { Environment } from '../api/handles/environment.ts'
import { InsideProcess } from './claude/inside-process.ts'

export interface ClaudeInsideOptions {
  /** the program, as seen inside; default: the path that the SDK would start on this machine */
  readonly executable?: string
  /** where it starts; default: the working directory of the environment */
  readonly cwd?: string
  /** variables that it gets in addition to those of Claude itself */
  readonly env?: Readonly<Record<string, string>>
}

/** The SDK passes on every variable of the caller. Only these concern the agent; the rest stays outside. */
const passedOn = /^(ANTHROPIC|CLAUDE|DISABLE)_/

/**
 * Starts the agent's own process inside an environment, so that everything it does happens there, and can be
 * branched.
 *
 * @example
 * const env = await fp.create()
 * query({ prompt, options: { spawnClaudeCodeProcess: claudeInside(env) } })
 */
export function claudeInside(
  environment: Environment,
  options: ClaudeInsideOptions = {},
): (spawning: SpawnOptions) => SpawnedProcess {
  return ({ command, args, env, signal }) => {
    const starting = environment.spawn([options.executable ?? command, ...args], {
      mode: 'process',
      cwd: options.cwd ?? environment.lastInfo.workdir,
      env: { ...variablesOf(env), ...options.env },
      stdin: 'streamed',
    })
    const started = new InsideProcess(starting)
    const end = () => started.kill('SIGKILL')
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    return started
  }
}

function variablesOf(env: SpawnOptions['env']): Record<string, string> {
  const given = Object.entries(env).filter(
    (each): each is [string, string] => each[1] !== undefined && passedOn.test(each[0]),
  )
  return Object.fromEntries(given)
}

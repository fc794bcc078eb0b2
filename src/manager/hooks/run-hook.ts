import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { BackendError } from '../../model/errors.ts'
import type { Hook, HookOperation, HookPhase } from './hook.ts'

/** What a hook's command learns, as variables. */
export interface HookFacts {
  readonly operation: HookOperation
  /** the same for all phases of one operation, to name what is not valid yet */
  readonly transaction: string
  readonly session: string
  /** empty where several are concerned */
  readonly branch: string
  readonly environment: string
  /** the snapshot that was taken (known at commit), restored, forked or removed */
  readonly snapshot?: string
  /** of a fork: the names of the new branches */
  readonly branches?: readonly string[]
}

const usualTimeoutMs = 60_000
/** Enough for the last lines of a failed command. */
const mostOutput = 64 * 1024

/** Runs one phase of a hook to its end. Throws if it fails. */
export async function runHook(hook: Hook, phase: HookPhase, facts: HookFacts): Promise<void> {
  const command = hook[facts.operation]?.[phase]
  if (command === undefined) return
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: hook.cwd,
    env: { ...process.env, ...hook.env, ...variablesOf(phase, facts) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it starts ends with it.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-mostOutput)
    })
  }
  const timeoutMs = hook.timeoutMs ?? usualTimeoutMs
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    endGroup(child.pid)
  }, timeoutMs)
  try {
    const [code, signal] = await once(child, 'close')
    if (code === 0) return
    const how = timedOut ? `took longer than ${timeoutMs} ms` : `ended with ${code ?? signal}`
    throw failed(hook, phase, facts, how, output)
  } catch (error) {
    if (error instanceof BackendError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw failed(hook, phase, facts, `could not be started: ${reason}`, output)
  } finally {
    clearTimeout(timer)
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function failed(
  { name }: Hook,
  phase: HookPhase,
  { operation }: HookFacts,
  how: string,
  lastWords: string,
): BackendError {
  return new BackendError(`hook ${name}: the command for ${phase} of ${operation} ${how}`, {
    lastWords,
    remedy: 'run that command by hand to see why, repair it, and try again',
    detail: { hook: name, operation, phase },
  })
}

function variablesOf(phase: HookPhase, facts: HookFacts): Record<string, string> {
  return {
    FORKPOINT_OPERATION: facts.operation,
    FORKPOINT_PHASE: phase,
    FORKPOINT_TRANSACTION: facts.transaction,
    FORKPOINT_SESSION: facts.session,
    FORKPOINT_BRANCH: facts.branch,
    FORKPOINT_ENVIRONMENT: facts.environment,
    FORKPOINT_SNAPSHOT: facts.snapshot ?? '',
    FORKPOINT_BRANCHES: (facts.branches ?? []).join(' '),
  }
}

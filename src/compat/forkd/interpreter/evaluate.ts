import * as z from 'zod/mini'
import type { Environment } from '../../../api/handles/environment.ts'
import type { ExecResult } from '../../../api/handles/exec-options.ts'
import { BackendError, ConflictError, NotFoundError, TimeoutError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { asker, keeper, nobodyCode } from './programs.ts'

/** Where the keeper listens inside. It is a process like any other: snapshots and forks have it, too. */
const socketPath = '/tmp/.forkpoint-eval.sock'

/** A first import of numpy takes seconds on a busy machine. */
const startSeconds = 30
const longestMs = 120_000

const evaluation = z.object({
  result: z.nullable(z.string()),
  error: z.nullable(z.string()),
  exit_code: z.number(),
  traceback: z.optional(z.string()),
  stdout: z.string(),
})

/** What code gave, in the interpreter that is kept in a sandbox. */
export type Evaluation = z.infer<typeof evaluation>

/** Evaluates an expression, or runs statements. Names stay from one call to the next, also in forks. */
export async function evaluate(
  sandbox: Environment,
  code: string,
  signal: AbortSignal,
): Promise<Evaluation> {
  const first = await ask(sandbox, code, 0, signal)
  if (first !== null) return first
  await start(sandbox)
  const second = await ask(sandbox, code, startSeconds, signal)
  if (second !== null) return second
  throw new BackendError(`the interpreter in ${sandbox.id} does not start`, {
    remedy: `look at the processes inside, and at ${socketPath}`,
  })
}

/** Null if no interpreter is kept there. */
async function ask(
  sandbox: Environment,
  code: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Evaluation | null> {
  const words = ['python3', '-c', asker, socketPath, String(seconds)]
  const limits = { timeoutMs: longestMs, signal }
  const result = await sandbox
    .exec(words, { mode: 'process', stdin: code, ...limits })
    .catch((error: unknown) => {
      throw error instanceof NotFoundError ? noPython(error.message) : error
    })
  if (result.timedOut) {
    throw new TimeoutError(`the code ran for more than ${longestMs / 1000} s`, {
      remedy: 'it continues, and what comes next waits for it; start long work with exec',
    })
  }
  if (result.exitCode === nobodyCode) return null
  if (result.exitCode === 0) return parsed(result)
  throw noPython(`python3 ended with ${result.exitCode}: ${quote(result.stderr)}`)
}

function noPython(why: string): ConflictError {
  return new ConflictError(`no interpreter can be kept in this sandbox: ${why}`, {
    remedy: 'use a snapshot that has python3',
  })
}

/** Output goes nowhere, so that it never waits for a reader. */
async function start(sandbox: Environment): Promise<void> {
  const line = 'exec python3 -c "$1" "$2" </dev/null >/dev/null 2>&1'
  const started = await sandbox.spawn(['sh', '-c', line, 'sh', keeper, socketPath], {
    mode: 'process',
    cwd: '/',
  })
  await started.pid
  started.detach()
}

/** Code inside may have written anything. */
function parsed({ stdout }: ExecResult): Evaluation {
  try {
    return evaluation.parse(JSON.parse(stdout))
  } catch (error) {
    throw new BackendError(`the interpreter answered ${quote(stdout.slice(0, 200))}`, {
      remedy: 'what runs inside may have replaced it; end it, and evaluate again',
      cause: error,
    })
  }
}

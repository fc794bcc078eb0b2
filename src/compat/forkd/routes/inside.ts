import { constants } from 'node:os'
import type { FastifyInstance } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import type { ExecOptions, ExecResult } from '../../../api/handles/exec-options.ts'
import { fields } from '../../../api/inputs/checked.ts'
import { programInput } from '../../../api/inputs/exec-inputs.ts'
import * as v from '../../../api/inputs/values.ts'
import { BackendError, NotFoundError } from '../../../model/errors.ts'
import { bodyOf, named } from '../bodies.ts'
import { findSandbox } from '../find.ts'
import { visitOf } from '../host.ts'
import { evaluate } from '../interpreter/evaluate.ts'

const longestCode = 1024 ** 2
const defaultSeconds = 30
/** As `timeout` ends. */
const timedOutCode = 124
/** As a shell ends if a program cannot be started, or is not there. */
const refusedCode = 126
const notFoundCode = 127
const longestSeconds = 24 * 24 * 3600

const execInput = fields({ args: programInput }, { timeout_secs: v.whole(1, longestSeconds) })
const evalInput = fields({ code: v.text(longestCode) }, {})

/** What runs in a sandbox. */
export function addInsideRoutes(app: FastifyInstance): void {
  app.post(
    '/v1/sandboxes/:id/exec',
    { config: { operation: 'forkd.sandbox.exec', scope: 'exec' } },
    async (request) => {
      const { args, timeout_secs: seconds = defaultSeconds } = bodyOf('exec', execInput, request)
      const { forkpoint, signal } = visitOf(request)
      const sandbox = await findSandbox(forkpoint, named(request, 'id'))
      const limits = { timeoutMs: seconds * 1000, signal }
      return await executed(sandbox, args, limits)
    },
  )
  app.post(
    '/v1/sandboxes/:id/eval',
    { config: { operation: 'forkd.sandbox.eval', scope: 'exec' } },
    async (request) => {
      const { code } = bodyOf('eval', evalInput, request)
      const { forkpoint, signal } = visitOf(request)
      return await evaluate(await findSandbox(forkpoint, named(request, 'id')), code, signal)
    },
  )
  app.post(
    '/v1/sandboxes/:id/ping',
    { config: { operation: 'forkd.sandbox.ping', scope: 'exec' } },
    async (request) => {
      const sandbox = await findSandbox(visitOf(request).forkpoint, named(request, 'id'))
      // Process 1 answers this.
      await sandbox.commands()
      return { pong: true, pid: 1 }
    },
  )
}

interface Executed {
  readonly stdout: string
  readonly stderr: string
  readonly exit_code: number
}

/** A program that cannot be started ends as in a shell, because 404 means that the sandbox is not there. */
async function executed(
  sandbox: Environment,
  args: readonly string[],
  limits: Pick<ExecOptions, 'timeoutMs' | 'signal'>,
): Promise<Executed> {
  try {
    const result = await sandbox.exec(args, { mode: 'process', ...limits })
    return { stdout: result.stdout, stderr: result.stderr, exit_code: exitCodeOf(result) }
  } catch (error) {
    const isRefused = error instanceof BackendError && error.detail?.errno === 'EACCES'
    if (!isRefused && !(error instanceof NotFoundError)) throw error
    const code = isRefused ? refusedCode : notFoundCode
    return { stdout: '', stderr: `${error.message}\n`, exit_code: code }
  }
}

/** As a shell counts it: a signal is 128 and its number. */
function exitCodeOf({ exitCode, signal, timedOut }: ExecResult): number {
  if (timedOut) return timedOutCode
  return exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
}

import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import { type Ran, run } from '../output/run.ts'
import { type Call, failureText, tool } from '../tool.ts'
import { forksOf, keepForeign } from './branching.ts'
import * as f from './fields.ts'

const mostTries = 16
const outputBytes = 4096
const mostChanges = 50

const judged = z.object({
  exitCode: z.nullable(z.number()),
  stdout: z.string(),
  stderr: z.string(),
})

const attempt = z.object({
  command: z.string(),
  environment: z.nullable(z.string()).describe('its fork; null if it was removed'),
  exitCode: z.nullable(z.number()),
  stdout: z.string(),
  stderr: z.string(),
  timedOut: z.boolean(),
  durationMs: z.number(),
  check: z.nullable(judged).describe('what the check said in this fork'),
  passed: z.boolean(),
  score: z.nullable(z.number()).describe('the number on the last line of the check, if it is one'),
  changed: z.array(z.string()).describe('files that it changed, at most 50'),
  error: z.nullable(z.string()),
})

type Attempt = z.output<typeof attempt>

export const tryCommands = tool({
  name: 'try_commands',
  title: 'Try commands in forks',
  description:
    'Tries N commands in N forks of an environment at the same time, compares them and keeps the best: the whole pattern of a search in one call. Use it whenever you have several candidate fixes, flags, versions or patches. Each fork starts from exactly the same state, including running programs. With `check`, a command that is run in each fork afterwards (the tests, a benchmark), an attempt passes if the check exits with 0; if the last line that the check prints is a number, the highest wins. Without a check, the attempt itself must exit with 0. If none passes, the environment stays as it was.',
  effect: 'destroys',
  input: {
    environment: f.environment,
    commands: z.array(f.command).min(1).max(mostTries).describe('one for each fork'),
    check: f.command.optional(),
    keep: z
      .enum(['best', 'none', 'all'])
      .default('best')
      .describe(
        'best: promote the winner into the environment and remove the forks; none: only compare; all: leave the forks and the environment as they are',
      ),
    timeoutMs: f.timeoutMs,
  },
  output: {
    snapshot: z.string().describe('where all forks started'),
    attempts: z.array(attempt),
    best: z.nullable(z.number()).describe('index of the winner in `attempts`; null: none passed'),
    kept: z.boolean().describe('whether the environment now is what the winner became'),
    before: z.nullable(z.string()),
  },
  run: async ({ environment, commands, check, keep, timeoutMs }, call) => {
    const { workspace, signal, progress } = call
    const original = await workspace.environment(environment)
    // Before the snapshot, so that none is left if there is no room.
    await workspace.requireRoom(commands.length)
    const total = commands.length + 2
    progress('taking a snapshot', 0, total)
    const base = await workspace.taking(original, { signal })
    const forks = await allForks(call, base, commands.length)
    try {
      progress(`made ${forks.length} forks`, 1, total)
      let done = 1
      const attempts = await Promise.all(
        forks.map(async (fork, index) => {
          const command = commands[index] ?? ''
          const tried = await tryIn(fork, { command, check, timeoutMs, signal })
          done += 1
          progress(`${tried.passed ? 'passed' : 'failed'}: ${command.slice(0, 100)}`, done, total)
          return tried
        }),
      )
      const best = bestOf(attempts)
      const winner = best === null ? undefined : forks[best]
      const isKept = keep === 'best' && winner !== undefined
      const before = isKept ? await keepForeign(workspace, original) : null
      if (isKept) await original.promote(winner)
      const shown = keep === 'all' ? attempts : attempts.map(withoutFork)
      progress(isKept ? 'kept the best' : 'compared', total, total)
      return { snapshot: base.id, attempts: shown, best, kept: isKept, before }
    } finally {
      if (keep !== 'all') await Promise.allSettled(forks.map((fork) => workspace.remove(fork)))
    }
  },
})

async function allForks(
  { workspace, signal }: Call,
  base: Parameters<typeof forksOf>[1],
  count: number,
): Promise<Environment[]> {
  const errors: string[] = []
  const forks = await forksOf(workspace, base, { count, signal }, errors)
  if (errors.length === 0) return forks
  await Promise.allSettled(forks.map((fork) => workspace.remove(fork)))
  throw new Error(`not every fork could be made: ${errors[0]}`)
}

interface Try {
  readonly command: string
  readonly check: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

async function tryIn(fork: Environment, { command, check, timeoutMs, signal }: Try) {
  const options = { limitBytes: outputBytes, timeoutMs, signal }
  const none = { command, environment: fork.id, check: null, score: null, changed: [] }
  try {
    const ran = await run(fork, command, options)
    const checked = check === undefined ? null : await run(fork, check, options)
    const judge = checked ?? ran
    const { changes } = await fork.diff()
    return {
      ...attemptOf(fork, command, ran),
      check: checked && {
        exitCode: checked.exitCode,
        stdout: checked.stdout,
        stderr: checked.stderr,
      },
      passed: judge.exitCode === 0,
      score: check === undefined ? null : scoreOf(judge.stdout),
      changed: changes.slice(0, mostChanges).map(({ path }) => path),
      error: null,
    } satisfies Attempt
  } catch (error) {
    // One that cannot be tried does not spoil the others.
    const nothing = { exitCode: null, stdout: '', stderr: '', timedOut: false, durationMs: 0 }
    return { ...none, ...nothing, passed: false, error: failureText(error) } satisfies Attempt
  }
}

function attemptOf(fork: Environment, command: string, ran: Ran) {
  const { exitCode, stdout, stderr, timedOut, durationMs } = ran
  return { command, environment: fork.id, exitCode, stdout, stderr, timedOut, durationMs }
}

function withoutFork(tried: Attempt): Attempt {
  return { ...tried, environment: null }
}

/** The number on the last line. */
export function scoreOf(stdout: string): number | null {
  const last = stdout.trimEnd().split('\n').at(-1)?.trim() ?? ''
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(last) ? Number(last) : null
}

/** The index of the one that passed with the highest score; the first of equals. */
export function bestOf(
  attempts: readonly { readonly passed: boolean; readonly score: number | null }[],
): number | null {
  let best: number | null = null
  attempts.forEach(({ passed, score }, index) => {
    if (!passed) return
    const before = best === null ? null : attempts[best]
    const isBetter = before == null || (score ?? -Infinity) > (before.score ?? -Infinity)
    if (isBetter) best = index
  })
  return best
}

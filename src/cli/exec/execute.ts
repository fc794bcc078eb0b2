import type { Environment, ExecOptions } from '../../index.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import type { Context } from '../context.ts'
import { say, write } from '../write.ts'
import { exitCodeOfCommand } from './exit-code.ts'
import { abortWaitMs } from './interrupted.ts'
import { leftBehind, shellEnded, waitsFor } from './remarks.ts'
import { resultJson } from './result-json.ts'
import { stdinIsGiven } from './stdin.ts'

interface Execution {
  readonly environment: Environment
  /** the user's word for it */
  readonly reference: string
  readonly command: string | readonly string[]
  readonly options: ExecOptions
  /** undefined: if it is a pipe or a file */
  readonly stdin: boolean | undefined
  readonly signal: AbortSignal
  /** nobody uses the shell afterwards */
  readonly isLast?: boolean | undefined
}

/** Runs a command with the streams and the exit code of this process, and says what happened to it otherwise. */
export async function execute(context: Context, execution: Execution): Promise<void> {
  const { environment, reference, command, signal } = execution
  const { stdout, stderr } = context.streams
  const passesStdin = execution.stdin ?? stdinIsGiven()
  try {
    const { json } = context.globals
    const remark = (text: string) => void say(stderr, text)
    const streamed = {
      stdin: passesStdin ? process.stdin : undefined,
      onStdout: json ? undefined : (chunk: Buffer) => write(stdout, chunk),
      onStderr: json ? undefined : (chunk: Buffer) => write(stderr, chunk),
    }
    const result = await environment.exec(command, {
      ...execution.options,
      ...withoutUndefined(streamed),
      onWait: (ahead) => remark(waitsFor(reference, ahead)),
      onLeft: (id) => remark(leftBehind(reference, id)),
      signal,
      abortWaitMs,
    })
    if (json) await context.show({ json: resultJson(result), text: () => '' })
    const isMissed = result.shellGone && !result.timedOut && !execution.isLast
    if (isMissed) await say(stderr, shellEnded)
    context.endWith(exitCodeOfCommand(result))
  } finally {
    // Input that nobody reads now must not keep this process alive.
    if (passesStdin) process.stdin.destroy()
  }
}

/** A single word is a command line; several reach the command exactly as given. */
export function lineOf(words: readonly string[]): string | readonly string[] {
  return words.length === 1 ? (words[0] ?? '') : words
}

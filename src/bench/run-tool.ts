import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a program of the host; rejects with its stderr if it fails. */
export const runTool = promisify(execFile)

/** The first line of a program's version output; null if the program is missing. */
export async function versionOf(program: string): Promise<string | null> {
  const output = await runTool(program, ['--version']).catch(() => null)
  return output?.stdout.split('\n')[0]?.trim() ?? null
}

/** The first failure, even if cleaning up after it also failed. */
export function firstFailure(error: unknown): unknown {
  return error instanceof SuppressedError ? firstFailure(error.suppressed) : error
}

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a program of the host; rejects with what it said on stderr if it fails. */
export const runTool = promisify(execFile)

/** The first line that a program says about its version; null if there is no such program. */
export async function versionOf(program: string): Promise<string | null> {
  const said = await runTool(program, ['--version']).catch(() => null)
  return said?.stdout.split('\n')[0]?.trim() ?? null
}

/** What failed first, where cleaning up after it failed, too. */
export function firstFailure(error: unknown): unknown {
  return error instanceof SuppressedError ? firstFailure(error.suppressed) : error
}

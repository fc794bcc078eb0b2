import { isUtf8 } from 'node:buffer'
import type { ExecResult } from '../../index.ts'

/** The result as `--json` shows it. Output that is not text is also included as base64. */
export function resultJson(result: ExecResult): Record<string, unknown> {
  const { raw, ...shown } = result
  const json: Record<string, unknown> = { ...shown }
  if (!isUtf8(raw.stdout)) json.stdoutBase64 = raw.stdout.toString('base64')
  if (!isUtf8(raw.stderr)) json.stderrBase64 = raw.stderr.toString('base64')
  return json
}

import { isUtf8 } from 'node:buffer'
import type { ExecResult } from '../../index.ts'

/** The result as `--json` shows it. Output that is not text comes whole as base64 as well. */
export function resultJson(result: ExecResult): Record<string, unknown> {
  const { raw, ...shown } = result
  return {
    ...shown,
    ...(!isUtf8(raw.stdout) && { stdoutBase64: raw.stdout.toString('base64') }),
    ...(!isUtf8(raw.stderr) && { stderrBase64: raw.stderr.toString('base64') }),
  }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PrerequisiteError } from '../model/errors.ts'
import { loadGlobalSettings } from './arguments/globals.ts'
import type { Context } from './context.ts'
import { packageScript } from './package-root.ts'

/** Installs or builds what these steps of scripts/bootstrap find missing. */
export async function bootstrap(context: Context, steps: readonly string[]): Promise<void> {
  const { runtime } = loadGlobalSettings(context.globals).settings
  const script = packageScript('bootstrap')
  // Its progress goes to stderr: stdout is for the one document.
  const child = spawn(script, steps, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, FORKPOINT_RUNTIME: runtime },
  })
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new PrerequisiteError(`${script} failed (${signal ?? `exit code ${code}`})`, {
    remedy: 'follow its messages above, then try again',
  })
}

import { existingEntry, resolveTrusted } from '../../linux/files/trusted-path.ts'
import { PrerequisiteError } from '../../model/errors.ts'
import type { NativeSettings, Settings } from '../../model/settings.ts'
import { quote } from '../../model/text/quote.ts'
import type { Check } from '../backend.ts'

export function isRoot(): boolean {
  return process.geteuid?.() === 0
}

export function requireRoot(): void {
  if (isRoot()) return
  throw new PrerequisiteError('the native backend must run as root to make namespaces and mounts', {
    remedy: 'run it with sudo',
  })
}

export function checkRoot(): Check {
  const found = `uid ${process.geteuid?.()}`
  if (isRoot()) return { name: 'root', status: 'ok', found }
  return { name: 'root', status: 'fail', found, remedy: 'run it with sudo' }
}

/** Its tools run as root, so nobody else may be able to replace them. */
export function requireTrustedTools(
  settings: Pick<NativeSettings, 'criu'> & Pick<Settings, 'runtime'>,
): void {
  requireTrustedTool('runtime', settings.runtime)
  if (settings.criu !== null) requireTrustedTool('criu', settings.criu)
}

/** Accepts a missing tool: whoever needs it reports it. */
export function requireTrustedTool(setting: 'runtime' | 'criu', given: string): void {
  const refuse = (why: string, cause?: unknown) =>
    new PrerequisiteError(`cannot run programs from ${quote(given)}: ${why}`, {
      remedy: `use \`chown root:root\` and \`chmod go-w\` on it, or change the setting ${setting}`,
      detail: { [setting]: given },
      cause,
    })
  resolveTrusted(given, { entryAt: existingEntry, refuse })
}

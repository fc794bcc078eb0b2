import { BackendError } from '../model/errors.ts'
import type { DumpImages } from './images/dump-images.ts'
import { outsideSession } from './images/sessions.ts'
import type { Verdicts } from './memory/verdicts.ts'

/** Refuses images that CRIU could not restore: a snapshot that is taken can be used. */
export function requireSessions(images: DumpImages, verdicts: Verdicts): void {
  const found = outsideSession(images)
  if (found === null) return
  const { pid, session } = found
  const object = `a session (${session}) whose leader has ended, and which its parent has left`
  const command = verdicts.get(pid)?.command ?? '?'
  throw new BackendError(`cannot capture "${command}" (pid ${pid} inside): it has ${object}`, {
    remedy: 'end that process, or its parent, and try again; `--mode filesystem` needs neither',
    detail: { object, process: { line: command, pid } },
  })
}

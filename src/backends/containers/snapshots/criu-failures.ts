import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BackendError } from '../../../model/errors.ts'
import { EngineRefusal } from '../engine/failures.ts'

/** Runs `work`; if the engine refuses because CRIU failed, says why. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error
    const log = await criuLog(error.message)
    if (log !== null) throw criuFailed(error, log)
    if (!/criu/i.test(error.message)) throw error
    throw new BackendError(error.message, { cause: error, remedy: criuInPath })
  }
}

const criuInPath =
  'start the engine with a directory in PATH that has CRIU, such as criu/bin in the runtime directory'

interface CriuLog {
  readonly path: string
  readonly errors: string
}

/** Podman says where CRIU worked, and Docker where its log is; neither says why it failed. */
async function criuLog(message: string): Promise<CriuLog | null> {
  const [, directory] = /--work-path (\S+)/.exec(message) ?? []
  const [, file] = /(\/\S+\.log)\b/.exec(message) ?? []
  const name = message.includes('runc checkpoint') ? 'dump.log' : 'restore.log'
  const path = directory === undefined ? file : join(directory, name)
  if (path === undefined) return null
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return null
  const errors = text.split('\n').filter((line) => line.includes(' Error '))
  return { path, errors: errors.join('\n') }
}

function criuFailed(cause: EngineRefusal, { path, errors }: CriuLog): BackendError {
  const last = errors.split('\n').find((line) => !line.includes('for self'))
  const why = last?.replace(/^.*?\): /, '') ?? 'its log has no reason'
  return new BackendError(`the engine could not dump or restore the container: CRIU: ${why}`, {
    cause,
    lastWords: errors,
    logPath: path,
    remedy: /rlimit/.test(why)
      ? 'give the engine CAP_SYS_RESOURCE, or run commands as root inside'
      : 'end the process that CRIU names, or use `--mode filesystem`',
  })
}

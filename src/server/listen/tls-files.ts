import { readFileSync, watch } from 'node:fs'
import type { Server } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import { dirname } from 'node:path'
import { createSecureContext } from 'node:tls'
import { InvalidInputError } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** Certificates are often replaced in several steps, so it waits for the last one. */
const settleMs = 200

export function readTls(files: TlsFiles): { cert: string; key: string } {
  try {
    const read = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
    createSecureContext(read)
    return read
  } catch (error) {
    throw new InvalidInputError(
      `cannot use the certificate ${files.cert}: ${(error as Error).message}`,
      {
        remedy: 'give --tls-cert and --tls-key as PEM files that belong together',
        cause: error,
      },
    )
  }
}

/** Uses new certificates for new connections as soon as the files change. */
export function watchTls(server: Server, files: TlsFiles, log: Log): Disposable {
  let timer: NodeJS.Timeout | undefined
  const reload = () => {
    try {
      ;(server as SecureServer).setSecureContext(readTls(files))
      log.info({ cert: files.cert }, 'certificate reloaded')
    } catch (err) {
      // The daemon keeps the certificate that it has; the next change tries again.
      log.error({ err }, 'cannot reload the certificate')
    }
  }
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(reload, settleMs)
  }
  // The directories: a certificate is usually replaced by a rename.
  const dirs = new Set([dirname(files.cert), dirname(files.key)])
  const watchers = [...dirs].map((dir) => watch(dir, soon))
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}

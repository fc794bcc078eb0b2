import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askToStop, isReady, isServed } from '../../client/probe.ts'
import { BackendError, NotFoundError, TimeoutError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

const lookEveryMs = 20
/** Recovery of a home with many environments takes a while. */
const longestStartMs = 60_000
/** Requests that are under way get this long to end. */
const longestStopMs = 60_000
const shownLogBytes = 2000

export interface Detached {
  readonly pid: number
  readonly addresses: readonly string[]
}

/** Starts this command line again without `--detach`. Resolves when it answers. */
export async function detachDaemon(home: string, socket: string): Promise<Detached> {
  mkdirSync(home, { recursive: true, mode: 0o711 })
  const logPath = join(home, 'daemon.log')
  const log = openSync(logPath, 'a', 0o600)
  const before = fstatSync(log).size
  const own = ['--detach', '--json']
  const words = process.argv.slice(1).filter((word) => !own.includes(word))
  const child = spawn(process.execPath, [...process.execArgv, ...words], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  const printed = () => addressesIn(readFrom(logPath, before))
  // Until it has printed them, another daemon may be the one that answers.
  const isUp = async () => printed().length > 0 && (await isReady(socket))
  await untilReady(child, isUp, logPath)
  child.unref()
  return { pid: child.pid ?? 0, addresses: printed() }
}

/** It prints where it listens before anything else. */
function addressesIn(log: string): string[] {
  return Array.from(log.matchAll(/^(?:unix|https?):\/\/\S+$/gm), String)
}

/** The log may have years of earlier daemons in it. */
function readFrom(path: string, start: number): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - start))
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start))
  } finally {
    closeSync(file)
  }
}

async function untilReady(
  child: ChildProcess,
  isUp: () => Promise<boolean>,
  logPath: string,
): Promise<void> {
  const deadline = performance.now() + longestStartMs
  while (child.exitCode === null && child.signalCode === null) {
    if (await isUp()) return
    if (performance.now() > deadline) break
    await sleep(lookEveryMs)
  }
  const isLate = child.exitCode === null && child.signalCode === null
  throw new BackendError(isLate ? 'the daemon does not answer' : 'the daemon ended at once', {
    remedy: `read ${logPath}, or start it without --detach`,
    lastWords: readFileSync(logPath, 'utf8').slice(-shownLogBytes),
    logPath,
  })
}

/** Ends the daemon on a socket. Resolves when it no longer listens. */
export async function stopDaemon(socket: string): Promise<void> {
  if (!(await isServed(socket))) {
    throw new NotFoundError(`no daemon listens on ${quote(socket)}`, {
      remedy: 'give the socket that it was started with, or --home',
    })
  }
  await askToStop(socket)
  const deadline = performance.now() + longestStopMs
  while (await isServed(socket)) {
    if (performance.now() > deadline) {
      throw new TimeoutError('the daemon is still answering requests', {
        remedy: 'wait for them, or kill it: environments keep running',
      })
    }
    await sleep(lookEveryMs)
  }
}

import { readlinkSync } from 'node:fs'
import { type Command, commandOf, inWords, pidInside } from '../../../linux/command-line.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import { readOfProcess } from '../../../linux/process-files.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { BackendError } from '../../../model/errors.ts'

/**
 * Refuses an environment in which a process is being debugged, or has ended and left threads behind. A process can
 * have only one tracer, and that must be CRIU, which would wait 10 s for the other one, although it is frozen. Our own
 * helper, which frees memory, is waited for later.
 */
export function refuseTraced(cgroup: string): void {
  for (const pid of processesIn(cgroup)) {
    const status = readOfProcess(pid, 'status') ?? ''
    const tracer = Number(/^TracerPid:\t(\d+)$/m.exec(status)?.[1] ?? 0)
    if (tracer !== 0 && !isOurs(tracer)) throw beingTraced(commandOf(pid), commandOf(tracer))
    if (isLeaderless(status)) throw leaderless(pid, status)
  }
}

/** The first thread has ended, and others have not. */
function isLeaderless(status: string): boolean {
  return /^State:\tZ/m.test(status) && Number(/^Threads:\t(\d+)$/m.exec(status)?.[1] ?? 1) > 1
}

/** It has no command line any more. */
function leaderless(pid: number, status: string): BackendError {
  const line = /^Name:\t(.*)$/m.exec(status)?.[1] ?? '?'
  const process = { line, pid: pidInside(status) ?? pid }
  const object = 'threads, although its first thread has ended'
  return new BackendError(`cannot capture ${inWords(process)}: it has ${object}`, {
    remedy:
      'let its first thread wait for the others (pthread_join instead of pthread_exit), or end that process; `--mode filesystem` needs neither',
    detail: { object, process },
  })
}

function isOurs(tracer: number): boolean {
  try {
    return readlinkSync(`/proc/${tracer}/exe`) === nativeProgram('cell')
  } catch {
    // The tracer has ended, and traces nothing any longer.
    return true
  }
}

function beingTraced(process: Command | null, tracer: Command | null): BackendError {
  const object = `a tracer, ${inWords(tracer)}`
  return new BackendError(`cannot capture ${inWords(process)}: it has ${object}`, {
    remedy: 'end or detach the debugger and try again, or use `--mode filesystem`',
    detail: { object, process },
  })
}

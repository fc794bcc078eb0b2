import { readlinkSync } from 'node:fs'
import { type Command, commandOf, inWords } from '../../../linux/command-line.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import { readOfProcess } from '../../../linux/process-files.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { BackendError } from '../../../model/errors.ts'

/**
 * Refuses an environment in which a process is being debugged. A process can have only one tracer, and
 * that must be CRIU, which would wait 10 s for the other one, although it is frozen. Our own helper, which
 * frees memory, is waited for later.
 */
export function refuseTraced(cgroup: string): void {
  for (const pid of processesIn(cgroup)) {
    const tracer = tracerOf(pid)
    if (tracer !== 0 && !isOurs(tracer)) throw beingTraced(commandOf(pid), commandOf(tracer))
  }
}

function tracerOf(pid: number): number {
  const status = readOfProcess(pid, 'status') ?? ''
  return Number(/^TracerPid:\t(\d+)$/m.exec(status)?.[1] ?? 0)
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

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BackendError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { type Command, commandOf } from './command-line.ts'

/**
 * Refuses an environment in which a process is being debugged. A process has one tracer at a time,
 * and CRIU has to be it: it would wait 10 s for the other one, which is frozen.
 */
export function refuseTraced(cgroup: string): void {
  const pids = readFileSync(join(cgroup, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)
  for (const pid of pids) {
    const tracer = tracerOf(pid)
    if (tracer !== 0) throw beingTraced(commandOf(Number(pid)), commandOf(tracer))
  }
}

function tracerOf(pid: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^TracerPid:\t(\d+)$/m.exec(status)?.[1] ?? 0)
  } catch {
    // It ended meanwhile.
    return 0
  }
}

function beingTraced(process: Command | null, tracer: Command | null): BackendError {
  const object = `a tracer, ${describe(tracer)}`
  return new BackendError(`cannot capture ${describe(process)}: it has ${object}`, {
    remedy: 'end the debugger or let it detach, then try again; `--mode filesystem` needs neither',
    detail: { object, process },
  })
}

function describe(command: Command | null): string {
  return command === null ? 'a process' : `${quote(command.line)} (pid ${command.pid} inside)`
}

import { readFileSync } from 'node:fs'
import { type Command, commandOf, inWords } from '../../../linux/command-line.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { BackendError } from '../../../model/errors.ts'

/**
 * Refuses an environment in which a process is being debugged. A process has one tracer at a time,
 * and CRIU has to be it: it would wait 10 s for the other one, which is frozen.
 */
export function refuseTraced(cgroup: string): void {
  for (const pid of processesIn(cgroup)) {
    const tracer = tracerOf(pid)
    if (tracer !== 0) throw beingTraced(commandOf(pid), commandOf(tracer))
  }
}

function tracerOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^TracerPid:\t(\d+)$/m.exec(status)?.[1] ?? 0)
  } catch {
    // It ended meanwhile.
    return 0
  }
}

function beingTraced(process: Command | null, tracer: Command | null): BackendError {
  const object = `a tracer, ${inWords(tracer)}`
  return new BackendError(`cannot capture ${inWords(process)}: it has ${object}`, {
    remedy: 'end the debugger or let it detach, then try again; `--mode filesystem` needs neither',
    detail: { object, process },
  })
}

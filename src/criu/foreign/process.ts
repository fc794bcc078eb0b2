import { readlinkSync, statSync } from 'node:fs'
import { readOfProcess } from '../../linux/process-files.ts'
import { identify, isAlive, type ProcessIdentity } from '../../linux/process-identity.ts'
import { treeOf } from '../../linux/process-tree.ts'
import { ConflictError, InvalidInputError, NotFoundError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** A running process by its pid, such as `1234` or `pid:1234`. */
export function processBy(text: string): ProcessIdentity {
  const [, digits] = /^(?:pid:)?([1-9]\d{0,9})$/.exec(text) ?? []
  if (digits === undefined) {
    throw new InvalidInputError(`not the pid of a process: ${quote(text)}`, {
      remedy: 'give a pid, such as 1234; `--backend docker` or `podman` adopts a container',
    })
  }
  const found = identify(Number(digits))
  if (found !== undefined && isAlive(found)) return found
  throw new NotFoundError(`no process has the pid ${digits}`, { remedy: '`ps ax` lists them' })
}

/** The process that `keyOf` made a key of. */
export function processOf({ key }: { readonly key: string }): ProcessIdentity {
  const [bootId = '', pid, startTicks] = key.split(' ')
  return { bootId, pid: Number(pid), startTicks: Number(startTicks) }
}

export function keyOf({ bootId, pid, startTicks }: ProcessIdentity): string {
  return [bootId, pid, startTicks].join(' ')
}

/** A thread has a directory in /proc, too, and a kernel thread has no program. */
export function requireOrdinary(pid: number): void {
  const status = readOfProcess(pid, 'status') ?? ''
  const group = Number(/^Tgid:\s+(\d+)/m.exec(status)?.[1] ?? pid)
  if (group !== pid) {
    throw new InvalidInputError(`${pid} is a thread of process ${group}`, {
      remedy: `attach to ${group}`,
    })
  }
  if (linkOf(`/proc/${pid}/exe`) === null) {
    throw new InvalidInputError(`process ${pid} runs no program: it belongs to the kernel`, {
      remedy: 'give the pid of a program',
    })
  }
}

/** A process can have one tracer, and CRIU must be it for a moment. */
export function requireUntraced(root: number): void {
  for (const pid of treeOf(root)) {
    const status = readOfProcess(pid, 'status') ?? ''
    const tracer = Number(/^TracerPid:\s+(\d+)/m.exec(status)?.[1] ?? 0)
    if (tracer === 0) continue
    throw new ConflictError(`process ${pid} is traced by process ${tracer}`, {
      remedy: `end the debugger or \`strace\` (pid ${tracer}), then try again`,
    })
  }
}

/** A process that is stopped for a snapshot cannot take it. */
export function requireOutside(pid: number, tree: readonly number[]): void {
  if (!tree.includes(process.pid)) return
  throw new ConflictError(`process ${pid} has started this command, which cannot stop itself`, {
    remedy: 'run the command from another terminal',
  })
}

/** CRIU cannot name a session of another pid namespace. */
export function requireSessions(tree: readonly number[]): void {
  const without = tree.find((pid) => sessionOf(pid) === 0)
  if (without === undefined) return
  throw new InvalidInputError(
    `process ${without} cannot be adopted: its session began outside its pid namespace`,
    { remedy: 'start it with `setsid` in that namespace, then attach' },
  )
}

/** The pid that a process has in its own pid namespace. */
export function insidePid(pid: number): number {
  const status = readOfProcess(pid, 'status') ?? ''
  return Number(/^NSpid:.*\s(\d+)$/m.exec(status)?.[1] ?? pid)
}

/** `/`, which is refused later unless another is given, if it was removed. */
export function workdirOf(pid: number): string {
  const path = linkOf(`/proc/${pid}/cwd`)
  return path !== null && isSameFile(path, `/proc/${pid}/cwd`) ? path : '/'
}

export function isSameFile(a: string, b: string): boolean {
  try {
    const [one, other] = [a, b].map((path) => statSync(path, { bigint: true }))
    return one?.dev === other?.dev && one?.ino === other?.ino
  } catch {
    // One of them does not exist.
    return false
  }
}

export function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // The process has ended, or has none.
    return null
  }
}

/** The session of a process, in its own pid namespace: 0 if it began outside; null if the process has ended. */
export function sessionOf(pid: number): number | null {
  const status = readOfProcess(pid, 'status')
  return status === null ? null : Number(/^NSsid:.*\s(\d+)$/m.exec(status)?.[1] ?? 0)
}

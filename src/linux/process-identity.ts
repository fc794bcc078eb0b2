import { readFileSync } from 'node:fs'
import { PrerequisiteError } from '../model/errors.ts'

/** A process, told apart from any later one that is given the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** clock ticks between boot and the process's start */
  readonly startTicks: number
  /** the boot that the ticks count from; without it a reboot could bring an owner back to life */
  readonly bootId: string
}

let bootId: string | undefined
let self: ProcessIdentity | undefined

/** Undefined if there is no such process. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid)
  return stat && { pid, startTicks: stat.startTicks, bootId: currentBoot() }
}

export function selfIdentity(): ProcessIdentity {
  self ??= identify(process.pid)
  if (self === undefined) {
    throw new PrerequisiteError('/proc does not show this process', {
      remedy: 'mount proc at /proc, for this pid namespace',
    })
  }
  return self
}

/** Whether this very process still runs. A zombie does not: it can hold nothing any more. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== currentBoot()) return false
  let stat: Stat | undefined
  try {
    stat = readStat(identity.pid)
  } catch {
    // A failure such as too many open files says nothing about the process.
    return true
  }
  if (stat === undefined) return isHidden(identity.pid)
  return stat.startTicks === identity.startTicks && !'ZXx'.includes(stat.state)
}

interface Stat {
  readonly state: string
  readonly startTicks: number
}

function readStat(pid: number): Stat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ESRCH: it ended between being opened and being read.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

function currentBoot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

/** The two fields of /proc/<pid>/stat that matter. */
export function parseStat(text: string): Stat {
  // Field 2 is the program's name in parentheses, and it may itself hold spaces and parentheses:
  // only the last one ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const state = fields[0] ?? ''
  const startTicks = Number(fields[19])
  if (state.length !== 1 || !Number.isSafeInteger(startTicks)) {
    throw new Error(`not a /proc/<pid>/stat line: ${JSON.stringify(text.slice(0, 200))}`)
  }
  return { state, startTicks }
}

/** With /proc mounted hidepid, another user's process has no directory but can still be signalled. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

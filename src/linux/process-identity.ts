import { readFileSync } from 'node:fs'
import { PrerequisiteError } from '../model/errors.ts'
import { readOfProcess } from './process-files.ts'

/** Identifies a process, even if a later one gets the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** clock ticks between boot and the process's start */
  readonly startTicks: number
  /** the boot that the ticks count from; without it, another process after a reboot could match */
  readonly bootId: string
}

// Neither changes as long as this process runs.
let bootId: string | undefined
let self: ProcessIdentity | undefined

/** Undefined if the process does not exist. */
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

/** Whether exactly this process still runs. A zombie does not: it no longer holds anything. */
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
  const text = readOfProcess(pid, 'stat')
  return text === null ? undefined : parseStat(text)
}

function currentBoot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

/** The two fields of /proc/<pid>/stat that matter. */
export function parseStat(text: string): Stat {
  // Field 2 is the program's name in parentheses. The name may contain spaces and parentheses, so only
  // the last one ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const state = fields[0] ?? ''
  const startTicks = Number(fields[19])
  if (state.length !== 1 || !Number.isSafeInteger(startTicks)) {
    throw new Error(`not a /proc/<pid>/stat line: ${JSON.stringify(text.slice(0, 200))}`)
  }
  return { state, startTicks }
}

/** If /proc is mounted with hidepid, another user's process has no directory but can be signalled. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

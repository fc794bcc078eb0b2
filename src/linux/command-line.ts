import { readFileSync } from 'node:fs'
import { quote } from '../model/text/quote.ts'

/** The command line of a process, and its pid inside. */
export interface Command {
  readonly line: string
  readonly pid: number
}

/** Any process can change its command line, so it is only shown and never trusted. */
export function commandOf(pid: number): Command | null {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return { line: line.replaceAll('\0', ' ').trim(), pid: pidInside(status) ?? pid }
  } catch {
    // The process has ended.
    return null
  }
}

/** The pid that a process has inside, from its /proc/PID/status. */
export function pidInside(status: string): number | null {
  const number = /^NSpid:.*\s(\d+)$/m.exec(status)?.[1]
  return number === undefined ? null : Number(number)
}

/** Names a process in a sentence. */
export function inWords(command: Command | null): string {
  return command === null ? 'a process' : `${quote(command.line)} (pid ${command.pid} inside)`
}

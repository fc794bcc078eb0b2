import { writeSync } from 'node:fs'
import { printable } from '../model/text/printable.ts'

interface Target {
  readonly fd: number
  readonly isTTY?: boolean
}

/** Writes JSON for a program or a file, and words for a person at a terminal. */
export function destinationFor({ fd, isTTY = false }: Target): { write(line: string): void } {
  const write = (text: string) => {
    try {
      // Synchronous, because the last line before the process ends is often the one that matters.
      writeSync(fd, text)
    } catch {
      // Nobody reads stderr anymore, and the work matters more than its log.
    }
  }
  return { write: (line) => write(isTTY ? inWords(line) : line) }
}

const levels = new Map<unknown, string>([
  [20, 'debug'],
  [30, 'info'],
  [40, 'warning'],
  [50, 'error'],
])

/** `forkpoint: warning: flushing failed (snapshot=s1, err=no space left)` */
export function inWords(line: string): string {
  const { level, time: _time, pid: _pid, msg, ...facts } = JSON.parse(line)
  const shown = Object.entries(facts).map(([key, value]) => `${key}=${brief(value)}`)
  const about = shown.length > 0 ? ` (${shown.join(', ')})` : ''
  return `forkpoint: ${levels.get(level) ?? 'log'}: ${printable(`${msg}${about}`)}\n`
}

function brief(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value)
    return String(value.message)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

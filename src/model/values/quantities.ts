import { InvalidInputError } from '../errors.ts'
import { quote } from '../text/quote.ts'

const number = String.raw`(\d+(?:\.\d+)?|\.\d+)`
const bytesShape = new RegExp(String.raw`^${number}\s*(?:b|([kmgtp])(?:i?b)?)?$`, 'i')
const durationShape = new RegExp(String.raw`^${number}\s*(ms|s|m|min|h|d)?$`, 'i')
const cpusShape = new RegExp(`^${number}$`)

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const msPerUnit: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

// setTimeout fires immediately if it has to wait longer than this, which would end a command with a
// generous timeout right away.
const longestTimerMs = 2 ** 31 - 1

/** `2g`, `512m`, `1.5GiB` or plain bytes. Every unit is a power of 1024, as in container tools. */
export function parseBytes(value: string | number): number {
  const bytes = bytesOf(String(value).trim())
  if (Number.isSafeInteger(bytes)) return bytes
  throw new InvalidInputError(`not a size: ${quote(value)}`, {
    remedy: 'give bytes, or a number with k, m, g or t, such as 512m or 1.5GiB',
  })
}

function bytesOf(text: string): number {
  const [, amount, prefix] = bytesShape.exec(text) ?? []
  const power = prefix === undefined ? 0 : 'kmgtp'.indexOf(prefix.toLowerCase()) + 1
  return amount === undefined ? Number.NaN : Math.round(Number(amount) * 1024 ** power)
}

/** `30` (seconds), `30s`, `5m`, `500ms`, `2h` or `1d`, in milliseconds. */
export function parseDuration(value: string | number): number {
  const ms = msOf(value)
  if (Number.isSafeInteger(ms) && ms <= longestTimerMs) return ms
  throw new InvalidInputError(`not a duration: ${quote(value)}`, {
    remedy: 'give seconds, or a number with ms, s, m, h or d, such as 500ms or 5m, up to 24d',
  })
}

/** How old something is: a duration, but nobody waits for it, so it may be years. */
export function parseAge(value: string | number): number {
  const ms = msOf(value)
  if (Number.isSafeInteger(ms)) return ms
  throw new InvalidInputError(`not an age: ${quote(value)}`, {
    remedy: 'give seconds, or a number with s, m, h or d, such as 12h or 30d',
  })
}

function msOf(value: string | number): number {
  const [, amount, unit = 's'] = durationShape.exec(String(value).trim()) ?? []
  return Math.round(Number(amount) * (msPerUnit[unit.toLowerCase()] ?? Number.NaN))
}

/** A number of CPUs, fractions allowed: `2`, `0.5`. */
export function parseCpus(value: string | number): number {
  const cpus = cpusShape.test(String(value).trim()) ? Number(value) : Number.NaN
  // cgroup quotas are whole microseconds of a 100 ms period, and the kernel refuses less than 1 ms.
  if (cpus >= 0.01 && cpus <= 100_000) return cpus
  throw new InvalidInputError(`not a number of CPUs: ${quote(value)}`, {
    remedy: 'give a number of at least 0.01, such as 2 or 0.5',
  })
}

/** A whole number of things, at least one. */
export function parseCount(value: string | number): number {
  const count = /^\d+$/.test(String(value).trim()) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidInputError(`not a count: ${quote(value)}`, {
    remedy: 'give a whole number of at least 1',
  })
}

/** Measured: with 2 MiB a restore runs out of memory and is killed; 4 are enough for a shell alone. */
export const leastMemoryBytes = 16 * 1024 ** 2
/** Measured: an agent, a shell and one command need 3. */
export const leastPids = 8
/** The kernel's maximum, minus what a restore needs on top. */
export const mostPids = 4_000_000

/** The metadata of a new environment takes 0.1 MiB (measured), and a file system must move to free anything. */
export const leastDiskBytes = 16 * 1024 ** 2

/** The disk space of an environment. */
export function parseDiskLimit(value: string | number): number {
  const bytes = parseBytes(value)
  if (bytes >= leastDiskBytes) return bytes
  throw new InvalidInputError(`too little disk space: ${quote(value)}`, {
    remedy: `give at least ${leastDiskBytes / 1024 ** 2}m`,
  })
}

/** Measured: with less, an agent that was restored takes minutes until it answers. */
export const leastIoBytes = 64 * 1024
/** A full packet and its acknowledgements must pass within a few seconds, or connections end. */
export const leastNetBytes = 4 * 1024

/** How fast an environment may read from disk, or write to it, in bytes per second. */
export function parseIoRate(value: string | number): number {
  return parseRate(value, leastIoBytes)
}

/** How fast an environment may send, and how fast it may receive, in bytes per second. */
export function parseNetRate(value: string | number): number {
  return parseRate(value, leastNetBytes)
}

function parseRate(value: string | number, least: number): number {
  const bytes = bytesOf(String(value).trim().replace(/\/s$/i, ''))
  if (Number.isSafeInteger(bytes) && bytes >= least) return bytes
  throw new InvalidInputError(`not a rate: ${quote(value)}`, {
    remedy: `give bytes per second, such as 10m or 1.5GiB/s, at least ${least / 1024}k`,
  })
}

/** The memory of an environment. */
export function parseMemoryLimit(value: string | number): number {
  const bytes = parseBytes(value)
  if (bytes >= leastMemoryBytes) return bytes
  throw new InvalidInputError(`too little memory: ${quote(value)}`, {
    remedy: `give at least ${leastMemoryBytes / 1024 ** 2}m: with less it does not start, or cannot be restored`,
  })
}

/** How many processes and threads an environment may have. */
export function parsePids(value: string | number): number {
  const count = parseCount(value)
  if (count >= leastPids && count <= mostPids) return count
  throw new InvalidInputError(`not a usable process limit: ${quote(value)}`, {
    remedy: `give a whole number from ${leastPids} to ${mostPids}`,
  })
}

/** How long somebody waits; zero would not be a wait at all. */
export function parseTimeout(value: string | number): number {
  const ms = parseDuration(value)
  if (ms > 0) return ms
  throw new InvalidInputError(`not a timeout: ${quote(value)}`, { remedy: 'give at least 1ms' })
}

/** A whole number of things, possibly 0. */
export function parseWhole(value: string | number): number {
  const count = /^\d+$/.test(String(value).trim()) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw new InvalidInputError(`not a count: ${quote(value)}`, {
    remedy: 'give a whole number, 0 or more',
  })
}

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // Compare what would be printed, so that 1023.97 KiB is shown as 1 MiB and not as 1024 KiB.
  while (Math.abs(Number(value.toFixed(1))) >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${Number(value.toFixed(1))} ${byteUnits[unit]}`
}

export function formatDuration(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  const tenths = Math.round(ms / 100)
  if (tenths < 600) return `${tenths / 10} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return pair(seconds, 60, 'min', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1440) return pair(minutes, 60, 'h', 'min')
  return pair(Math.round(minutes / 60), 24, 'd', 'h')
}

/** How long ago, for a column of a listing: `12s`, `5m`, `3h`, `2d`. */
export function formatAge(thenMs: number, nowMs: number): string {
  // A clock that was set back must not print a negative age.
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

function pair(total: number, size: number, big: string, small: string): string {
  const rest = total % size
  return `${Math.floor(total / size)} ${big}${rest === 0 ? '' : ` ${rest} ${small}`}`
}

/** When something was, by the clock of this machine: `14:03:59`, with the date if that is not today's. */
export function formatClock(thenMs: number, nowMs: number): string {
  const [day, time] = clockOf(thenMs)
  return day === clockOf(nowMs)[0] ? time : `${day} ${time}`
}

function clockOf(ms: number): [day: string, time: string] {
  const at = new Date(ms)
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return [day, `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`]
}

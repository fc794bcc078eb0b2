import { hash } from 'node:crypto'
import { type BigIntStats, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dropOldVerdicts } from './drop-old-verdicts.ts'
import { type FileVerdict, rulesVersion } from './judge-file.ts'
import { isReach } from './reach.ts'

const dayMs = 24 * 60 * 60 * 1000

export interface CacheLimits {
  readonly entries: number
  readonly ageMs: number
  /** for files that could not be judged now, but perhaps later */
  readonly undecidedAgeMs: number
}

/** A machine with everything that the tests use has 400 entries. */
const usualLimits: CacheLimits = {
  entries: 4096,
  ageMs: 30 * dayMs,
  undecidedAgeMs: 10 * 60 * 1000,
}

interface Entry {
  readonly verdict: FileVerdict
  /** of Date.now() */
  readonly until: number
}

/** Verdicts by what a file is, not by where it is. */
export class VerdictCache {
  readonly #directory: string
  readonly #limits: CacheLimits
  readonly #remembered = new Map<string, Entry>()
  #written = 0

  constructor(directory: string, limits: Partial<CacheLimits> = {}) {
    this.#directory = directory
    this.#limits = { ...usualLimits, ...limits }
  }

  get(key: string): FileVerdict | null {
    const entry = this.#remembered.get(key) ?? this.#read(key)
    if (entry === null || entry.until <= Date.now()) return null
    this.#remember(key, entry)
    return entry.verdict
  }

  set(key: string, verdict: FileVerdict): void {
    const { entries, ageMs, undecidedAgeMs } = this.#limits
    const until = Date.now() + (verdict.isForNow ? undecidedAgeMs : ageMs)
    this.#remember(key, { verdict, until })
    const path = join(this.#directory, key)
    const draft = `${path}.${process.pid}`
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      // Also at the first verdict of a process, because most processes write few.
      if (this.#written % (entries / 16) === 0) dropOldVerdicts(this.#directory, { entries, ageMs })
      this.#written += 1
      writeFileSync(draft, encode({ verdict, until }))
      renameSync(draft, path)
    } catch {
      // Only time is lost: this process remembers the verdict, and the next one judges the file again.
    }
  }

  /** Forgets the oldest entry if there is no room. */
  #remember(key: string, entry: Entry): void {
    const [oldest] = this.#remembered.keys()
    const isFull = this.#remembered.size >= this.#limits.entries && !this.#remembered.has(key)
    if (isFull && oldest !== undefined) this.#remembered.delete(oldest)
    this.#remembered.set(key, entry)
  }

  #read(key: string): Entry | null {
    try {
      return decode(readFileSync(join(this.#directory, key), 'utf8'))
    } catch {
      // Missing or unreadable: the file is judged again.
      return null
    }
  }
}

/**
 * The name is part of the key, because a file may be known by its name. Nobody inside can set the times of
 * birth and change. The device is left out if the kernel made it up, as it does for every new overlay over
 * the same files.
 */
export function verdictKey(name: string, stats: BigIntStats): string {
  const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs } = stats
  const device = majorOf(dev) === 0n ? '' : dev
  const file = [device, ino, size, mtimeNs, ctimeNs, birthtimeNs, name].join(':')
  return `v${rulesVersion}-${hash('sha256', file).slice(0, 32)}`
}

function majorOf(device: bigint): bigint {
  return ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
}

function encode({ verdict: { safe, why, reach, isForNow }, until }: Entry): string {
  const word = isForNow ? 'undecided' : safe ? (reach ?? 'safe') : 'unsafe'
  return `${until} ${word} ${why}\n`
}

function decode(text: string): Entry | null {
  const [, until, word, why] = /^(\d+) ([a-z-]+) (.+)\n$/.exec(text) ?? []
  const verdict = why === undefined ? null : decodeVerdict(word, why)
  return verdict && { verdict, until: Number(until) }
}

function decodeVerdict(word: string | undefined, why: string): FileVerdict | null {
  if (word === 'safe') return { safe: true, why }
  if (word === 'unsafe') return { safe: false, why }
  if (word === 'undecided') return { safe: false, why, isForNow: true }
  return isReach(word) ? { safe: true, why, reach: word } : null
}

import { hash } from 'node:crypto'
import { type BigIntStats, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dropOldVerdicts } from './drop-old-verdicts.ts'
import { type FileVerdict, rulesVersion } from './judge-file.ts'

const dayMs = 24 * 60 * 60 * 1000

export interface CacheLimits {
  readonly entries: number
  readonly ageMs: number
  /** for what could not be judged, and may be at a better time */
  readonly undecidedAgeMs: number
}

/** A machine with everything that the tests use has 400. */
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

/** Verdicts by what a file is, not by where it lies. */
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

  /** A cache that cannot be written is slow, and no reason to fail. */
  set(key: string, verdict: FileVerdict): void {
    const { entries, ageMs, undecidedAgeMs } = this.#limits
    const until = Date.now() + (verdict.isForNow ? undecidedAgeMs : ageMs)
    this.#remember(key, { verdict, until })
    const path = join(this.#directory, key)
    const draft = `${path}.${process.pid}`
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      // The first of a process as well, for most processes write few.
      if (this.#written % (entries / 16) === 0) dropOldVerdicts(this.#directory, { entries, ageMs })
      this.#written += 1
      writeFileSync(draft, encode({ verdict, until }))
      renameSync(draft, path)
    } catch {}
  }

  /** The one that was remembered first makes room. */
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
      return null
    }
  }
}

/**
 * The name is part of it, for a file may be known by its name. Of the times, nobody inside can set
 * those of birth and change. The device is left out where the kernel makes one up, as it does anew
 * for every overlay over the same files.
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

function encode({ verdict: { safe, why, isForNow }, until }: Entry): string {
  return `${until} ${isForNow ? 'undecided' : safe ? 'safe' : 'unsafe'} ${why}\n`
}

function decode(text: string): Entry | null {
  const [, until, word, why] = /^(\d+) (safe|unsafe|undecided) (.+)\n$/.exec(text) ?? []
  if (word === undefined || why === undefined) return null
  const verdict = { safe: word === 'safe', why }
  const isForNow = word === 'undecided'
  return { verdict: isForNow ? { ...verdict, isForNow } : verdict, until: Number(until) }
}

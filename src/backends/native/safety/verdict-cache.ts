import { hash } from 'node:crypto'
import { type BigIntStats, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileVerdict, rulesVersion } from './judge-file.ts'

/**
 * Verdicts by what a file is, not by where it lies. The device is left out: an overlay has another
 * one with every mount, over the same files.
 */
export class VerdictCache {
  readonly #directory: string
  readonly #remembered = new Map<string, FileVerdict>()

  constructor(directory: string) {
    this.#directory = directory
  }

  get(key: string): FileVerdict | null {
    const remembered = this.#remembered.get(key)
    if (remembered) return remembered
    const stored = this.#read(key)
    if (stored) this.#remembered.set(key, stored)
    return stored
  }

  /** A cache that cannot be written is slow, and no reason to fail. */
  set(key: string, verdict: FileVerdict): void {
    this.#remembered.set(key, verdict)
    const path = join(this.#directory, key)
    const draft = `${path}.${process.pid}`
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      writeFileSync(draft, encode(verdict))
      renameSync(draft, path)
    } catch {}
  }

  #read(key: string): FileVerdict | null {
    try {
      return decode(readFileSync(join(this.#directory, key), 'utf8'))
    } catch {
      return null
    }
  }
}

/** The name is part of it, for a file may be known by its name. */
export function verdictKey(name: string, stats: BigIntStats): string {
  const { ino, size, mtimeNs, ctimeNs } = stats
  const digest = hash('sha256', `${ino}:${size}:${mtimeNs}:${ctimeNs}:${name}`)
  return `v${rulesVersion}-${digest.slice(0, 32)}`
}

function encode({ safe, why }: FileVerdict): string {
  return `${safe ? 'safe' : 'unsafe'} ${why}\n`
}

function decode(text: string): FileVerdict | null {
  const [, word, why] = /^(safe|unsafe) (.+)\n$/.exec(text) ?? []
  return word === undefined || why === undefined ? null : { safe: word === 'safe', why }
}

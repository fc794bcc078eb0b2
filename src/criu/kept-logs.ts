import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../linux/files/if-exists.ts'

/** What CRIU was doing when it failed. */
export type Doing = 'dump' | 'restore'

export interface KeptLog {
  readonly name: string
  readonly doing: Doing
  /** milliseconds since 1970 */
  readonly at: number
  readonly path: string
  readonly text: string
}

/** The logs of failed calls of CRIU. What they are written next to is deleted with the failed draft. */
export interface KeptLogs {
  /** Returns the path of the kept log; undefined if there is nothing to keep. */
  keep(doing: Doing, text: string): string | undefined
  /** Newest first. */
  list(): KeptLog[]
}

const mostKept = 20
/** The end of a longer log says why CRIU failed. */
const mostCharacters = 64 * 1024

export function keptLogs(directory: string): KeptLogs {
  const names = () => (ifExists(() => readdirSync(directory)) ?? []).filter(parse).sort().reverse()
  return {
    keep: (doing, text) => {
      if (text === '') return undefined
      const path = join(directory, freshName(doing))
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      writeFileSync(path, text, { mode: 0o600 })
      for (const name of names().slice(mostKept)) rmSync(join(directory, name), { force: true })
      return path
    },
    list: () => names().flatMap((name) => read(directory, name)),
  }
}

let lastNumber = 0

/** Sorts by age. Two processes may fail in the same millisecond. */
function freshName(doing: Doing): string {
  lastNumber += 1
  const number = String(lastNumber).padStart(6, '0')
  return `${Date.now()}-${number}-${process.pid}-${doing}.log`
}

function parse(name: string): { readonly at: number; readonly doing: Doing } | null {
  const [, at, doing] = /^(\d+)-\d+-\d+-(dump|restore)\.log$/.exec(name) ?? []
  return at === undefined ? null : { at: Number(at), doing: doing === 'dump' ? 'dump' : 'restore' }
}

function read(directory: string, name: string): KeptLog[] {
  const path = join(directory, name)
  const text = ifExists(() => readFileSync(path, 'utf8'))
  const parsed = parse(name)
  // Another process may have removed it meanwhile, because there are newer ones.
  if (text === null || parsed === null) return []
  return [{ name, path, ...parsed, text: text.slice(-mostCharacters) }]
}

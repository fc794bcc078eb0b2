import { ConflictError, InvalidInputError, NotFoundError } from '../model/errors.ts'
import { isIdPrefix, shortestIdPrefix } from '../model/ids.ts'
import { closest } from '../model/text/closest.ts'
import { quote } from '../model/text/quote.ts'
import type { Name } from '../model/values/names.ts'
import type { Database, Row } from './database.ts'
import { isUniqueViolation } from './sqlite-errors.ts'

/** A table whose rows users refer to by id, shortened id or name. */
export interface Referable {
  readonly table: 'environments' | 'snapshots'
  readonly noun: 'environment' | 'snapshot'
  readonly letter: 'e' | 's'
  /** the commands that list and remove them, for remedies */
  readonly listing: string
  readonly removal: string
}

export const environmentRows: Referable = {
  table: 'environments',
  noun: 'environment',
  letter: 'e',
  listing: 'forkpoint ls',
  removal: 'forkpoint rm',
}

export const snapshotRows: Referable = {
  table: 'snapshots',
  noun: 'snapshot',
  letter: 's',
  listing: 'forkpoint snapshots',
  removal: 'forkpoint rm-snapshot',
}

const mostCandidates = 10

/** The row that `ref` means. A name takes precedence over a shortened id: people choose names on purpose. */
export function resolveReference(db: Database, kind: Referable, ref: string): Row {
  if (ref === '') {
    throw new InvalidInputError(`no ${kind.noun} was given`, { remedy: 'give its id or its name' })
  }
  const exact = db.get(`SELECT * FROM ${kind.table} WHERE id = ?1 OR name = ?1`, ref)
  if (exact !== undefined) return exact
  const matches = isIdPrefix(kind.letter, ref) ? rowsWithPrefix(db, kind, ref) : []
  const [only, ...others] = matches
  if (only === undefined) throw notFound(db, kind, ref)
  if (others.length > 0) throw ambiguous(kind, ref, matches)
  return only
}

/** If a write fails because the name is taken, says by what. */
export function explainingNames(
  db: Database,
  kind: Referable,
  name: Name | null,
  write: () => void,
): void {
  try {
    write()
  } catch (error) {
    if (!isUniqueViolation(error) || name === null) throw error
    const holder = holderOf(db, kind, name)
    throw holder === undefined ? error : taken(kind, name, holder, error)
  }
}

/** Refuses a new name that the other kind has: many commands accept either, and would not know which is meant. */
export function requireUnlike(db: Database, other: Referable, name: Name | null): void {
  const holder = name === null ? undefined : holderOf(db, other, name)
  if (name !== null && holder !== undefined) throw taken(other, name, holder)
}

function holderOf(db: Database, { table }: Referable, name: Name): Row | undefined {
  return db.get(`SELECT id, status FROM ${table} WHERE name = ?`, name)
}

function taken(kind: Referable, name: Name, holder: Row, cause?: unknown): ConflictError {
  const who = `${kind.noun} ${holder.id} (${holder.status})`
  return new ConflictError(`the name ${quote(name)} is taken by ${who}`, {
    remedy: `choose another name, rename that one with \`forkpoint rename\`, or remove it with \`${kind.removal} ${name}\``,
    detail: { name, holder: holder.id },
    cause,
  })
}

function rowsWithPrefix(db: Database, kind: Referable, prefix: string): Row[] {
  // Ids are ASCII, so everything that begins with the prefix sorts below the prefix and a "~".
  const sql = `SELECT * FROM ${kind.table} WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2`
  return db.all(sql, prefix, mostCandidates)
}

function ambiguous(kind: Referable, ref: string, matches: readonly Row[]): ConflictError {
  const candidates = matches.map((row) => String(row.id))
  const shown = matches.map((row) => (row.name === null ? `${row.id}` : `${row.id} (${row.name})`))
  return new ConflictError(`${quote(ref)} is the beginning of several ${kind.noun} ids`, {
    remedy: `give more of it: ${shown.join(', ')}`,
    detail: { ref, candidates },
  })
}

/** Somebody mixed up two arguments, or two verbs. */
function otherKind(wanted: Referable, met: Referable, ref: string): NotFoundError {
  const article = (noun: string) => (noun === 'environment' ? `an ${noun}` : `a ${noun}`)
  const message = `${quote(ref)} is ${article(met.noun)}, and ${article(wanted.noun)} is needed here`
  return new NotFoundError(message, {
    remedy:
      met.noun === 'snapshot'
        ? `name the environment first, and the snapshot after it; \`${met.removal} ${ref}\` would remove it`
        : `name a snapshot: \`${wanted.listing}\` lists them, and \`forkpoint snapshot ${ref}\` takes one`,
    detail: { ref, is: met.noun, suggestions: [] },
  })
}

function notFound(db: Database, kind: Referable, ref: string): NotFoundError {
  const other = kind === environmentRows ? snapshotRows : environmentRows
  const met = db.get(`SELECT id FROM ${other.table} WHERE id = ?1 OR name = ?1`, ref)
  if (met !== undefined) throw otherKind(kind, other, ref)
  const known = db.all(`SELECT id, name FROM ${kind.table}`)
  const words = known.flatMap(({ id, name }) => (name === null ? [id] : [name, id])).map(String)
  const suggestions = closest(ref, words)
  const tooShort = ref.length < shortestIdPrefix && words.some((word) => word.startsWith(ref))
  const remedy =
    suggestions.length > 0
      ? `did you mean ${suggestions.join(' or ')}?`
      : tooShort
        ? `give at least ${shortestIdPrefix} characters of the id`
        : `\`${kind.listing}\` lists them`
  return new NotFoundError(`no ${kind.noun} ${quote(ref)}`, {
    remedy,
    detail: { ref, suggestions },
  })
}

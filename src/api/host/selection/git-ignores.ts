import ignore, { type Ignore } from 'ignore'
import { InvalidInputError } from '../../../model/errors.ts'
import type { FileKind } from '../../../model/files/file-change.ts'
import { quote } from '../../../model/text/quote.ts'
import { asPath, matching } from './selection.ts'

/** The .gitignore files of a directory. Programs inside wrote them. */
export class GitIgnores {
  /** by the directory of the file, relative; empty: the top */
  readonly #rules: ReadonlyMap<string, Ignore>
  readonly #directories = new Map<string, boolean>()

  constructor(texts: ReadonlyMap<string, string>) {
    this.#rules = new Map(Array.from(texts, ([dir, text]) => [dir, rulesOf(dir, text)]))
  }

  ignores(path: string, type: FileKind): boolean {
    const end = path.lastIndexOf('/')
    return (end > 0 && this.#ignoresDirectory(path.slice(0, end))) || this.#decides(path, type)
  }

  #ignoresDirectory(path: string): boolean {
    const known = this.#directories.get(path)
    if (known !== undefined) return known
    const ignored = this.ignores(path, 'directory')
    this.#directories.set(path, ignored)
    return ignored
  }

  /** The last rule that matches wins, and those of deeper directories come later. */
  #decides(path: string, type: FileKind): boolean {
    let ignored = false
    for (const dir of ancestorsOf(path)) {
      const rules = this.#rules.get(dir)
      if (rules === undefined) continue
      const below = dir === '' ? path : path.slice(dir.length + 1)
      const decision = rules.test(asPath(below, type))
      ignored = decision.ignored || (ignored && !decision.unignored)
    }
    return ignored
  }
}

/** The directories above a path, the top first. */
function ancestorsOf(path: string): string[] {
  const ancestors = ['']
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    ancestors.push(path.slice(0, at))
  }
  return ancestors
}

/**
 * Wildcards become a regular expression that tries every way to match: with four stars in a name of 255
 * characters, millions of them. No real pattern has as many.
 */
const mostStars = 3

function rulesOf(dir: string, text: string): Ignore {
  for (const line of text.split('\n')) {
    const stars = line.split('/').map((name) => name.match(/\*+/g)?.length ?? 0)
    const doubled = line.match(/\*\*/g)?.length ?? 0
    if (Math.max(doubled, ...stars) <= mostStars) continue
    const file = dir === '' ? '.gitignore' : `${dir}/.gitignore`
    throw new InvalidInputError(`${quote(file)} has too many wildcards: ${quote(line)}`, {
      remedy: 'change that line inside, or name what to leave out yourself, with --exclude',
    })
  }
  return ignore(matching).add(text)
}

import { posix } from 'node:path'
import { InvalidInputError } from '../errors.ts'
import { quote } from '../text/quote.ts'

/** One line of .dockerignore. */
interface Rule {
  readonly matches: RegExp
  readonly ignores: boolean
}

/** Whether a build does not see a file of its directory. */
export interface IgnoredFiles {
  ignores(path: string): boolean
  /** whether files below an ignored directory may still be seen */
  readonly hasExceptions: boolean
}

/** Reads .dockerignore as Docker does: the last rule that matches a path or a directory above it decides. */
export function readIgnored(text: string): IgnoredFiles {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(ruleOf)
  return {
    hasExceptions: rules.some(({ ignores }) => !ignores),
    ignores: (path) => {
      const above = pathsTo(path)
      const last = rules.findLast(({ matches }) => above.some((each) => matches.test(each)))
      return last?.ignores ?? false
    },
  }
}

function ruleOf(line: string): Rule {
  const ignores = !line.startsWith('!')
  const pattern = posix.normalize(ignores ? line : line.slice(1).trim())
  const path = pattern.replace(/^\/+/, '').replace(/\/+$/, '')
  return { ignores, matches: matcherOf(line, path === '.' ? '.*' : expressionOf(path)) }
}

function matcherOf(line: string, expression: string): RegExp {
  try {
    return new RegExp(`^${expression}$`, 's')
  } catch (error) {
    throw new InvalidInputError(`.dockerignore: not a pattern: ${quote(line)}`, {
      remedy: 'correct the range in brackets, such as [a-z]',
      cause: error,
    })
  }
}

/** `*` and `?` stay within a component, `**` does not. Other characters mean themselves. */
function expressionOf(pattern: string): string {
  const parts = pattern.match(/\*\*\/|\*\*|\*|\?|\[[^\]]+\]|\\.|./gs) ?? []
  return parts
    .map((part) => {
      if (part === '**/') return '(?:.*/)?'
      if (part === '**') return '.*'
      if (part === '*') return '[^/]*'
      if (part === '?') return '[^/]'
      if (part.length > 2 && part.startsWith('['))
        return `[${part.slice(1, -1).replaceAll('\\', '\\\\')}]`
      return (part.startsWith('\\') ? part.slice(1) : part).replaceAll(
        /[.*+?^${}()|[\]\\/]/g,
        '\\$&',
      )
    })
    .join('')
}

/** `a/b/c` gives `a`, `a/b` and `a/b/c`. */
function pathsTo(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

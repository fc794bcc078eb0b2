import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'

export const toolSets = ['forkpoint', 'forkd'] as const

export type ToolSet = (typeof toolSets)[number]

/** What a client may do in one session. */
export interface McpOptions {
  /** whose names the tools have */
  readonly tools: ToolSet
  /** the only tools that there are; null: all of the set */
  readonly allow: readonly string[] | null
  /** it only reaches what carries all of these, and what it makes carries them */
  readonly labels: Readonly<Record<string, string>>
  /** how many environments of its own may live at once */
  readonly limit: number
  /** `own`: what this session made */
  readonly removes: 'own' | 'any'
}

const defaultLimit = 16
const mostEnvironments = 1000

export const defaultOptions: McpOptions = {
  tools: 'forkpoint',
  allow: null,
  labels: {},
  limit: defaultLimit,
  removes: 'own',
}

export function parseToolSet(text: string): ToolSet {
  const found = toolSets.find((each) => each === text)
  if (found !== undefined) return found
  throw new InvalidInputError(`no such set of tools: ${quote(text)}`, {
    remedy: `the sets are ${toolSets.join(' and ')}`,
  })
}

/** `exec,read_file` */
export function parseAllow(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

export function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= mostEnvironments) return limit
  throw new InvalidInputError(`not a limit: ${quote(text)}`, {
    remedy: `give a number of environments from 1 to ${mostEnvironments}`,
  })
}

/** The same as on the command line, in the query of a URL: `?allow=exec,fork&label=team=a&limit=4`. */
export function optionsOfQuery(query: URLSearchParams): McpOptions {
  const known = new Set(['tools', 'allow', 'label', 'limit', 'remove'])
  const wrong = [...query.keys()].find((key) => !known.has(key))
  if (wrong !== undefined) {
    throw new InvalidInputError(`no such option: ${quote(wrong)}`, {
      remedy: `the options are ${[...known].join(', ')}`,
    })
  }
  const [tools, limit, remove] = [query.get('tools'), query.get('limit'), query.get('remove')]
  if (remove !== null && remove !== 'own' && remove !== 'any') {
    throw new InvalidInputError(`not what may be removed: ${quote(remove)}`, {
      remedy: 'write own or any',
    })
  }
  const allowed = query.getAll('allow').flatMap(parseAllow)
  return {
    tools: tools === null ? defaultOptions.tools : parseToolSet(tools),
    allow: query.has('allow') ? allowed : null,
    labels: Object.fromEntries(query.getAll('label').map(parseLabel)),
    limit: limit === null ? defaultLimit : parseLimit(limit),
    removes: remove ?? 'own',
  }
}

function parseLabel(text: string): [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key !== undefined && value !== undefined) return [key, value]
  throw new InvalidInputError(`not a label: ${quote(text)}`, { remedy: 'write KEY=VALUE' })
}

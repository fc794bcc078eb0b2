import { InvalidInputError } from '../../model/errors.ts'
import { closest } from '../../model/text/closest.ts'
import { quote } from '../../model/text/quote.ts'

export const replCommands = [
  'snapshot',
  'restore',
  'step',
  'fork',
  'checkout',
  'branches',
  'park',
  'discard',
  'cmd',
  'tree',
  'stats',
  'history',
  'storage',
  'set',
  'help',
  'exit',
] as const

export type ReplCommand = (typeof replCommands)[number]

/** One line of a session: a command of ours with its words, or a command line to run inside. */
export type ReplLine =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'command'; readonly command: ReplCommand; readonly words: readonly string[] }
  | { readonly kind: 'exec'; readonly text: string }

/** Whether commands to run inside need `cmd` in front of them. */
export type CmdHeading = 'on' | 'off'

/** Pure. With the heading off, whatever is no command of ours runs inside. */
export function parseLine(line: string, heading: CmdHeading): ReplLine {
  const text = line.trim()
  if (text === '' || text.startsWith('#')) return { kind: 'nothing' }
  const [first = '', ...words] = text.split(/\s+/)
  const command = replCommands.find((each) => each === first)
  if (command === 'cmd') return { kind: 'exec', text: needText(text.slice('cmd'.length).trim()) }
  if (command !== undefined) return { kind: 'command', command, words }
  if (heading === 'off') return { kind: 'exec', text }
  const meant = closest(first, replCommands)
  throw new InvalidInputError(`there is no command ${quote(first)}`, {
    remedy:
      meant.length > 0
        ? `did you mean ${meant.join(' or ')}? \`cmd ${first} …\` runs it inside`
        : '`help` lists the commands; `cmd …` runs one inside',
  })
}

function needText(text: string): string {
  if (text !== '') return text
  throw new InvalidInputError('nothing to run', { remedy: 'write `cmd` and a command line' })
}

import { differing } from './catalogue/differing.ts'

interface Expected {
  readonly program: string
  readonly line: RegExp
}

const expected: readonly Expected[] = differing.flatMap(({ programs, lines }) =>
  programs.flatMap((program) => lines.map((line) => ({ program, line }))),
)

/** Those that some program has said by now. */
const met = new Set<Expected>()

/** What a program found wrong in a copy; empty if nothing. Its last line is how it ended. */
export function wrongIn(program: string, said: readonly string[]): string[] {
  const own = expected.filter((each) => each.program === program)
  const wrong = said.filter((line) => {
    if (line === 'ready' || line === 'ok' || line === 'status 0') return false
    const found = own.filter((each) => each.line.test(line.replace(/^noticed: /, '')))
    for (const each of found) met.add(each)
    return found.length === 0
  })
  const isSilent = !said.some((line) => line === 'ok' || line.startsWith('noticed: '))
  return isSilent ? [...wrong, 'it said nothing'] : wrong
}

/** Programs in the tables that have found everything as it was. */
export function needlessExcuses(): string[] {
  const differed = new Set([...met].map(({ program }) => program))
  const always = differing.filter(({ sometimes }) => !sometimes).flatMap(({ programs }) => programs)
  return [...new Set(always)].filter((name) => !differed.has(name))
}

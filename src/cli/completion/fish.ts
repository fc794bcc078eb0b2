import { type ArgumentShape, listingOf, type ProgramShape, type VerbShape } from './shape.ts'

export function fishScript(program: ProgramShape): string {
  const names = program.verbs.map(({ name }) => name).join(' ')
  const lines = [
    '# fish completion for forkpoint: forkpoint completion fish | source',
    'complete -c forkpoint -f',
    'complete -c fp -w forkpoint',
    `set -l verbs ${names}`,
    ...program.verbs.map(
      ({ name, summary }) =>
        `complete -c forkpoint -n "not __fish_seen_subcommand_from $verbs" -a ${name} -d ${quoted(summary)}`,
    ),
    ...optionLines('', program.options),
    ...program.verbs.flatMap((verb) => [
      ...optionLines(seen(verb), verb.options),
      ...argumentLines(verb),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function optionLines(condition: string, options: ProgramShape['options']): string[] {
  return options.map(({ short, long, description, takesValue, choices }) =>
    [
      'complete -c forkpoint',
      condition,
      short && `-s ${short.slice(1)}`,
      long && `-l ${long.slice(2)}`,
      takesValue && '-r',
      choices.length > 0 && `-a ${quoted(choices.join(' '))}`,
      `-d ${quoted(description)}`,
    ]
      .filter(Boolean)
      .join(' '),
  )
}

/** The words before the argument are the program, the verb, and the arguments before it. */
function argumentLines(verb: VerbShape): string[] {
  const { arguments: all, isVariadic } = verb
  return all.flatMap((argument, index) => {
    const repeats = isVariadic && index === all.length - 1
    const at = `test (count (commandline -opc)) -${repeats ? 'ge' : 'eq'} ${index + 2}`
    return linesOf(argument, `complete -c forkpoint -n '${seenOf(verb)}; and ${at}'`)
  })
}

function linesOf({ kind, choices }: ArgumentShape, line: string): string[] {
  switch (kind) {
    case 'environment':
    case 'snapshot':
    case 'branch':
      return [`${line} -a '(${listingOf(kind)})'`]
    case 'file':
      return [`${line} -F`, `${line} -a '(${listingOf('environment')} | string replace -r $ :)'`]
    case 'choice':
      return [`${line} -a ${quoted(choices.join(' '))}`]
    case 'other':
      return []
  }
}

function seen(verb: VerbShape): string {
  return `-n '${seenOf(verb)}'`
}

function seenOf({ name }: VerbShape): string {
  return `__fish_seen_subcommand_from ${name}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

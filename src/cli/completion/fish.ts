import { listingOf, type ProgramShape, type VerbShape } from './shape.ts'

export function fishScript(program: ProgramShape): string {
  const names = program.verbs.map(({ name }) => name).join(' ')
  const lines = [
    '# fish completion for forkpoint: forkpoint completion fish | source',
    'complete -c forkpoint -f',
    `set -l verbs ${names}`,
    ...program.verbs.map(
      ({ name, summary }) =>
        `complete -c forkpoint -n "not __fish_seen_subcommand_from $verbs" -a ${name} -d ${quoted(summary)}`,
    ),
    ...optionLines('', program.options),
    ...program.verbs.flatMap((verb) => [
      ...optionLines(seen(verb), verb.options),
      ...argument(verb),
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

function argument(verb: VerbShape): string[] {
  const line = `complete -c forkpoint ${seen(verb)}`
  switch (verb.argument) {
    case 'environment':
    case 'snapshot':
    case 'branch':
      return [`${line} -a '(${listingOf(verb.argument)})'`]
    case 'file':
      return [`${line} -F`, `${line} -a '(${listingOf('environment')} | string replace -r $ :)'`]
    case 'choice':
      return [`${line} -a ${quoted(verb.choices.join(' '))}`]
    case 'other':
      return []
  }
}

function seen({ name }: VerbShape): string {
  return `-n '__fish_seen_subcommand_from ${name}'`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

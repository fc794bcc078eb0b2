import {
  type ArgumentShape,
  listingOf,
  optionWords,
  type ProgramShape,
  type VerbShape,
} from './shape.ts'

export function bashScript(program: ProgramShape): string {
  const verbs = program.verbs.map(({ name }) => name).join(' ')
  return `# bash completion for forkpoint: source <(forkpoint completion bash)
_forkpoint() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} verb= i at=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${program.verbs.map(({ name }) => name).join('|')}) verb=\${COMP_WORDS[i]}; break ;;
    esac
  done
  for ((i = i + 1; i < COMP_CWORD; i++)); do [[ \${COMP_WORDS[i]} == -* ]] || ((at += 1)); done
  case $verb:$previous in
${choiceCases(program)}
  esac
  if [[ $word == -* ]]; then
    case $verb in
${program.verbs.map((verb) => `      ${verb.name}) COMPREPLY=($(compgen -W '${optionWords(verb.options).join(' ')}' -- "$word")) ;;`).join('\n')}
      *) COMPREPLY=($(compgen -W '${optionWords(program.options).join(' ')}' -- "$word")) ;;
    esac
    return
  fi
  case $verb:$at in
    :*) COMPREPLY=($(compgen -W '${verbs} help' -- "$word")) ;;
${program.verbs.flatMap(argumentCases).join('\n')}
  esac
}
complete -o default -F _forkpoint forkpoint fp
`
}

function choiceCases({ options, verbs }: ProgramShape): string {
  const lines = [{ name: '', options }, ...verbs].flatMap((verb) =>
    verb.options
      .filter(({ choices }) => choices.length > 0)
      .map(
        ({ long, choices }) =>
          `    ${verb.name}:${long}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$word")); return ;;`,
      ),
  )
  return lines.join('\n')
}

/** One case for each position. */
function argumentCases({ name, arguments: all, isVariadic }: VerbShape): string[] {
  return all.map((argument, index) => {
    const repeats = isVariadic && index === all.length - 1
    return `    ${name}:${repeats ? '*' : index}) ${offer(argument)} ;;`
  })
}

function offer({ kind, choices }: ArgumentShape): string {
  switch (kind) {
    case 'environment':
    case 'snapshot':
    case 'branch':
      return `COMPREPLY=($(compgen -W "$(${listingOf(kind)})" -- "$word"))`
    case 'choice':
      return `COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$word"))`
    case 'file':
      return `COMPREPLY=($(compgen -f -- "$word") $(compgen -W "$(${listingOf('environment')})" -S : -- "$word"))`
    case 'other':
      return ':'
  }
}

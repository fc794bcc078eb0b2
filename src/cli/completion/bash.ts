import { listingOf, optionWords, type ProgramShape, type VerbShape } from './shape.ts'

export function bashScript(program: ProgramShape): string {
  const verbs = program.verbs.map(({ name }) => name).join(' ')
  return `# bash completion for forkpoint: source <(forkpoint completion bash)
_forkpoint() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} verb= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${program.verbs.map(({ name }) => name).join('|')}) verb=\${COMP_WORDS[i]}; break ;;
    esac
  done
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
  case $verb in
    '') COMPREPLY=($(compgen -W '${verbs} help' -- "$word")) ;;
${program.verbs.map(argumentCase).join('\n')}
  esac
}
complete -o default -F _forkpoint forkpoint
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

function argumentCase({ name, argument, choices }: VerbShape): string {
  switch (argument) {
    case 'environment':
    case 'snapshot':
    case 'branch':
      return `    ${name}) COMPREPLY=($(compgen -W "$(${listingOf(argument)})" -- "$word")) ;;`
    case 'choice':
      return `    ${name}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$word")) ;;`
    case 'file':
      return `    ${name}) COMPREPLY=($(compgen -f -- "$word") $(compgen -W "$(${listingOf('environment')})" -S : -- "$word")) ;;`
    case 'other':
      return `    ${name}) ;;`
  }
}

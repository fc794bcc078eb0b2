import { type ArgumentShape, listingOf, type ProgramShape, type VerbShape } from './shape.ts'

export function zshScript(program: ProgramShape): string {
  const verbs = program.verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  return `#compdef forkpoint fp
# zsh completion for forkpoint: source <(forkpoint completion zsh)
${(['environment', 'snapshot', 'branch'] as const).map(lister).join('\n')}
_forkpoint() {
  local -a verbs
  verbs=(
${verbs.join('\n')}
  )
  local state line
  _arguments -C ${specs(program.options)} '1: :->verb' '*:: :->rest'
  case $state in
    verb) _describe verb verbs ;;
    rest)
      case $line[1] in
${program.verbs.map(verbCase).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _forkpoint ]]; then _forkpoint "$@"; else compdef _forkpoint forkpoint fp; fi
`
}

function lister(argument: 'environment' | 'snapshot' | 'branch'): string {
  return `_forkpoint_${argument}() {
  local -a names
  names=(\${(f)"$(${listingOf(argument)})"})
  compadd -a names
}`
}

function verbCase({ name, options, arguments: all, isVariadic }: VerbShape): string {
  const completers = all.map((argument, index) => {
    const repeats = isVariadic && index === all.length - 1
    return quoted(`${repeats ? '*' : index + 1}: :${completerOf(argument)}`)
  })
  return `        ${name}) _arguments ${[specs(options), ...completers].join(' ')} ;;`
}

function completerOf({ kind, choices }: ArgumentShape): string {
  switch (kind) {
    case 'environment':
    case 'snapshot':
    case 'branch':
      return `_forkpoint_${kind}`
    case 'file':
      return '_files'
    case 'choice':
      return `(${choices.join(' ')})`
    case 'other':
      return '_default'
  }
}

function specs(options: ProgramShape['options']): string {
  return options
    .flatMap(({ short, long, description, takesValue, choices }) => {
      const value = takesValue ? `:value:${choices.length > 0 ? `(${choices.join(' ')})` : ''}` : ''
      const what = `[${description.replaceAll(/[[\]:]/g, ' ')}]${value}`
      return [short, long].filter((word) => word !== undefined).map((word) => quoted(word + what))
    })
    .join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

import { Option } from 'commander'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** An option whose value a parser of the model reads. Its errors then name the option. */
export function parsedOption<T>(
  flags: string,
  description: string,
  parse: (value: string) => T,
): Option {
  const option = new Option(flags, description)
  return option.argParser((value: string) => named(option, () => parse(value)))
}

/** `K=V`, may be repeated; the last one with the same key wins. */
export function pairsOption(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.argParser((value: string, before?: Record<string, string>) => ({
    ...before,
    ...named(option, () => parsePair(value)),
  }))
}

/** A value that may be repeated. */
export function listOption(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.argParser((value: string, before: readonly string[] = []) => [...before, value])
}

/** The same for values that a parser of the model reads. */
export function parsedListOption<T>(
  flags: string,
  description: string,
  parse: (value: string) => T,
): Option {
  const option = new Option(flags, description)
  return option.argParser((value: string, before: readonly T[] = []) => [
    ...before,
    named(option, () => parse(value)),
  ])
}

function parsePair(text: string): Record<string, string> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key !== undefined && value !== undefined) return { [key]: value }
  throw new InvalidInputError(`not KEY=VALUE: ${quote(text)}`, {
    remedy: 'write the key, "=" and the value, such as MODE=debug',
  })
}

function named<T>(option: Option, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    const { remedy, detail } = error
    throw new InvalidInputError(`${option.long}: ${error.message}`, {
      remedy,
      detail,
      cause: error,
    })
  }
}

import type { Limits, NetMode } from '../../../model/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import {
  parseBytes,
  parseCpus,
  parseMemoryLimit,
  parsePids,
} from '../../../model/values/quantities.ts'
import { noRunOptions, type RunOptions } from './run-options.ts'
import * as v from './values.ts'

/** Arguments of `docker run`, sorted by who needs them. */
export interface ParsedRun {
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly workdir?: string
  readonly hostname?: string
  readonly limits: Limits
  readonly net?: NetMode
  readonly run: RunOptions
}

type Apply = (parsed: ParsedRun, value: string, flag: string) => ParsedRun

interface Flag {
  readonly names: readonly string[]
  /** `switch`: it has no value, or `=true` */
  readonly kind: 'value' | 'switch'
  readonly apply: Apply
}

const flags: readonly Flag[] = [
  value(['--env', '-e'], (parsed, text, flag) => {
    const [key, content] = v.pair(flag, text)
    return { ...parsed, env: { ...parsed.env, [key]: content } }
  }),
  value(['--label', '-l'], (parsed, text, flag) => {
    const [key, content] = v.pair(flag, text)
    return { ...parsed, labels: { ...parsed.labels, [key]: content } }
  }),
  value(['--workdir', '-w'], (parsed, text, flag) => ({
    ...parsed,
    workdir: v.inside(flag, text),
  })),
  value(['--hostname', '-h'], (parsed, text, flag) => ({
    ...parsed,
    hostname: v.hostname(flag, text),
  })),
  value(['--memory', '-m'], (parsed, text) =>
    limited(parsed, { memoryBytes: parseMemoryLimit(text) }),
  ),
  value(['--cpus'], (parsed, text) => limited(parsed, { cpus: parseCpus(text) })),
  value(['--pids-limit'], (parsed, text) => limited(parsed, { pids: parsePids(text) })),
  value(['--network', '--net'], (parsed, text, flag) => ({
    ...changed(parsed, { network: v.word(flag, text) }),
    net: text === 'none' ? 'none' : 'nat',
  })),
  value(['--publish', '-p'], (parsed, text, flag) => ({
    // `docker run` gives every container a network.
    net: 'nat',
    ...changed(parsed, { ports: [...parsed.run.ports, v.port(flag, text)] }),
  })),
  value(['--volume', '-v'], (parsed, text, flag) => {
    const { binds, mounts } = v.volume(flag, text)
    return changed(parsed, {
      binds: [...parsed.run.binds, ...binds],
      mounts: [...parsed.run.mounts, ...mounts],
    })
  }),
  value(['--mount'], (parsed, text, flag) =>
    changed(parsed, { mounts: [...parsed.run.mounts, v.mount(flag, text)] }),
  ),
  value(['--tmpfs'], (parsed, text, flag) =>
    changed(parsed, { tmpfs: { ...parsed.run.tmpfs, ...v.tmpfs(flag, text) } }),
  ),
  value(['--user', '-u'], (parsed, text, flag) => changed(parsed, { user: v.word(flag, text) })),
  value(['--cap-add'], (parsed, text, flag) =>
    changed(parsed, { capAdd: [...parsed.run.capAdd, v.word(flag, text)] }),
  ),
  value(['--cap-drop'], (parsed, text, flag) =>
    changed(parsed, { capDrop: [...parsed.run.capDrop, v.word(flag, text)] }),
  ),
  value(['--shm-size'], (parsed, text) => changed(parsed, { shmBytes: parseBytes(text) })),
  value(['--add-host'], (parsed, text, flag) =>
    changed(parsed, { extraHosts: [...parsed.run.extraHosts, v.extraHost(flag, text)] }),
  ),
  value(['--dns'], (parsed, text, flag) =>
    changed(parsed, { dns: [...parsed.run.dns, v.address(flag, text)] }),
  ),
  {
    names: ['--privileged'],
    kind: 'switch',
    apply: (parsed) => changed(parsed, { privileged: true }),
  },
]

function value(names: readonly string[], apply: Apply): Flag {
  return { names, kind: 'value', apply }
}

function changed(parsed: ParsedRun, run: Partial<RunOptions>): ParsedRun {
  return { ...parsed, run: { ...parsed.run, ...run } }
}

function limited(parsed: ParsedRun, limits: Limits): ParsedRun {
  return { ...parsed, limits: { ...parsed.limits, ...limits } }
}

/** Every name that is accepted, the long ones first. */
export const knownFlags: readonly string[] = flags.flatMap(({ names }) => names)

/** Reads `--flag value`, `--flag=value` and `-f value`; refuses what it does not know. */
export function parseRunArguments(words: readonly string[]): ParsedRun {
  let parsed: ParsedRun = { env: {}, labels: {}, limits: {}, run: noRunOptions }
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const { name, given } = nameOf(word)
    const flag = flags.find(({ names }) => names.includes(name))
    if (flag === undefined) throw unknown(word)
    parsed = flag.apply(
      parsed,
      flag.kind === 'switch' ? switched(name, given) : (given ?? next(name, left)),
      name,
    )
  }
  return parsed
}

/** A short flag may be followed by its value at once: `-p80`. */
function nameOf(word: string): { name: string; given: string | undefined } {
  const [, short, value] = /^(-[a-z])=?(.+)$/s.exec(word) ?? []
  if (short !== undefined) return { name: short, given: value }
  const [, name = word, given] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
  return { name, given }
}

function switched(name: string, given: string | undefined): string {
  if (given === undefined || given === 'true') return 'true'
  throw v.refuse(name, given, 'no value, or leave it out')
}

function next(name: string, left: string[]): string {
  const value = left.shift()
  if (value !== undefined) return value
  throw new InvalidInputError(`${name} has no value`, { remedy: `give it after ${name}` })
}

function unknown(word: string): InvalidInputError {
  return new InvalidInputError(`not an accepted argument of \`docker run\`: ${quote(word)}`, {
    remedy: `use only ${knownFlags.join(', ')}`,
    detail: { known: [...knownFlags] },
  })
}

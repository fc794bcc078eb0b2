import * as z from 'zod/mini'
import type { Healthcheck, ImageFacts } from '../model/image.ts'

const text = z.string()
const words = z.nullish(z.array(text))
/** The tools write a set as an object with empty values. */
const names = z.nullish(z.record(text, z.unknown()))

const healthcheckSchema = z.object({
  Test: words,
  /** nanoseconds */
  Interval: z.nullish(z.number()),
  Timeout: z.nullish(z.number()),
  Retries: z.nullish(z.number()),
})

/** The part `config` of an image's configuration, as OCI and Docker write it. */
export const configSchema = z.object({
  User: z.nullish(text),
  Env: words,
  Entrypoint: words,
  Cmd: words,
  WorkingDir: z.nullish(text),
  Labels: z.nullish(z.record(text, text)),
  ExposedPorts: names,
  Volumes: names,
  Healthcheck: z.nullish(healthcheckSchema),
})

export type ImageConfig = z.infer<typeof configSchema>

const nsPerMs = 1_000_000
/** As for the variables and labels that a user gives. */
const longestValue = 128 * 1024
const longestLabel = 4096
const mostEntries = 1000

/** What an image says, without what an environment cannot have. */
export function factsOf(id: string, config: ImageConfig): ImageFacts {
  const { User, Entrypoint, Cmd, WorkingDir, ExposedPorts, Volumes, Healthcheck } = config
  return {
    id,
    env: variablesOf(config.Env ?? []),
    labels: labelsOf(config.Labels ?? {}),
    workdir: isPath(WorkingDir) ? WorkingDir : '/',
    user: User && isClean(User) ? User : null,
    entrypoint: Entrypoint ?? [],
    command: Cmd ?? [],
    ports: Object.keys(ExposedPorts ?? {}).filter(isClean),
    volumes: Object.keys(Volumes ?? {}).filter(isPath),
    healthcheck: healthcheckOf(Healthcheck),
  }
}

/** Only names that a shell accepts. */
function variablesOf(entries: readonly string[]): Record<string, string> {
  const pairs = entries.flatMap((entry) => {
    const [, name, value = ''] = /^([A-Za-z_][A-Za-z0-9_]{0,255})=([^\0]*)$/s.exec(entry) ?? []
    return name === undefined || value.length > longestValue ? [] : [[name, value] as const]
  })
  return Object.fromEntries(pairs.slice(0, mostEntries))
}

function labelsOf(labels: Readonly<Record<string, string>>): Record<string, string> {
  const fits = ([key, value]: [string, string]) =>
    key !== '' &&
    key.length <= 256 &&
    value.length <= longestLabel &&
    !`${key}${value}`.includes('\0')
  return Object.fromEntries(Object.entries(labels).filter(fits).slice(0, mostEntries))
}

/** The first word says how to run the others. */
function healthcheckOf(given: ImageConfig['Healthcheck']): Healthcheck | null {
  const [how, ...rest] = given?.Test ?? []
  if (!given || rest.length === 0 || (how !== 'CMD' && how !== 'CMD-SHELL')) return null
  return {
    command: how === 'CMD' ? rest : ['/bin/sh', '-c', ...rest],
    intervalMs: milliseconds(given.Interval),
    timeoutMs: milliseconds(given.Timeout),
    retries: given.Retries ? given.Retries : null,
  }
}

function milliseconds(ns: number | null | undefined): number | null {
  return ns ? ns / nsPerMs : null
}

function isPath(given: string | null | undefined): given is string {
  return given?.startsWith('/') === true && isClean(given) && given.length < 4096
}

function isClean(given: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we search for
  return given.length <= 4096 && !/[\u0000-\u001f\u007f]/.test(given)
}

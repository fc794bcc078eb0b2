import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidInputError, NotFoundError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** A configuration file as it was found; `content` is not checked yet. */
export interface ConfigFile {
  readonly path: string
  readonly content: unknown
}

export interface ConfigLocations {
  /** `--config` */
  readonly explicit?: string | undefined
  readonly env: Variables
  readonly system?: string | undefined
}

/** The files that exist, the one that wins first. Only a file asked for by name must exist. */
export function readConfigFiles(locations: ConfigLocations): ConfigFile[] {
  const explicit = locations.explicit ?? (locations.env.FORKPOINT_CONFIG || undefined)
  const files = [
    explicit === undefined ? undefined : requireFile(resolve(explicit)),
    readFile(join(userConfigDir(locations.env), 'forkpoint/config.json'), missing),
    readFile(locations.system ?? '/etc/forkpoint/config.json', missing),
  ]
  return files.filter((file) => file !== undefined)
}

function userConfigDir(env: Variables): string {
  // The XDG specification has a relative XDG_CONFIG_HOME ignored.
  if (env.XDG_CONFIG_HOME?.startsWith('/')) return env.XDG_CONFIG_HOME
  return join(env.HOME || homedir(), '.config')
}

// A user who may not look into the place of an optional file, as after `setpriv`, has none there.
const missing = new Set(['ENOENT', 'ENOTDIR', 'EACCES'])

function requireFile(path: string): ConfigFile {
  const file = readFile(path, new Set(['ENOENT', 'ENOTDIR']))
  if (file !== undefined) return file
  throw new NotFoundError(`no configuration file ${quote(path)}`, {
    remedy: 'correct --config or FORKPOINT_CONFIG, or create the file',
  })
}

function readFile(path: string, absent: ReadonlySet<string>): ConfigFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== undefined && absent.has(code)) return undefined
    throw new InvalidInputError(`cannot read the configuration file ${quote(path)}: ${message}`, {
      remedy: 'make it a readable file, or remove it',
      cause: error,
    })
  }
  try {
    return { path, content: JSON.parse(text) }
  } catch (error) {
    throw new InvalidInputError(`${path}: not JSON: ${(error as Error).message}`, {
      remedy: 'write one JSON object, without comments and trailing commas',
      cause: error,
    })
  }
}

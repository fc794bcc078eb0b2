import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidInputError, NotFoundError } from '../model/errors.ts'
import { isDeeperThan } from '../model/files/depth.ts'
import { quote } from '../model/text/quote.ts'
import { readConfig } from './read-config.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** A configuration file; its content is not checked yet. */
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

/** The files that exist, in order of precedence. Only an explicitly named file must exist. */
export function readConfigFiles(locations: ConfigLocations): ConfigFile[] {
  const { env, system = '/etc/forkpoint/config.json' } = locations
  const named = env.FORKPOINT_CONFIG || undefined
  const explicit = locations.explicit === undefined ? named : locations.explicit
  const files = [
    explicit === undefined ? undefined : requireFile(explicit, env),
    readFile(join(userConfigDir(env), 'forkpoint/config.json'), env, missing),
    readFile(system, env, missing),
  ]
  return files.filter((file) => file !== undefined)
}

/** Where a user keeps configuration. */
export function userConfigDir(env: Variables): string {
  // The XDG specification says to ignore a relative XDG_CONFIG_HOME.
  if (env.XDG_CONFIG_HOME?.startsWith('/')) return env.XDG_CONFIG_HOME
  return join(env.HOME || homedir(), '.config')
}

// If the user may not look there, as after `setpriv`, an optional file counts as missing.
const missing = new Set(['ENOENT', 'ENOTDIR', 'EACCES'])

function requireFile(named: unknown, env: Variables): ConfigFile {
  if (typeof named !== 'string' || named === '' || named.includes('\0')) {
    throw new InvalidInputError(`not the path of a configuration file: ${quote(named)}`, {
      remedy: 'correct --config or FORKPOINT_CONFIG, or leave it out',
    })
  }
  const path = resolve(named)
  const file = readFile(path, env, new Set(['ENOENT', 'ENOTDIR']))
  if (file !== undefined) return file
  throw new NotFoundError(`no configuration file ${quote(path)}`, {
    remedy: 'correct --config or FORKPOINT_CONFIG, or create the file',
  })
}

/** Settings are nested two levels deep. */
const maxDepth = 8

function readFile(
  path: string,
  env: Variables,
  absent: ReadonlySet<string>,
): ConfigFile | undefined {
  let text: string
  try {
    text = readConfig(path, env)
  } catch (error) {
    if (error instanceof InvalidInputError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== undefined && absent.has(code)) return undefined
    throw new InvalidInputError(`cannot read the configuration file ${quote(path)}: ${message}`, {
      remedy: 'make it a readable file, or remove it',
      cause: error,
    })
  }
  const content = parseJson(path, text)
  if (!isDeeperThan(maxDepth, content)) return { path, content }
  throw new InvalidInputError(`${path}: its objects are nested more than ${maxDepth} levels deep`, {
    remedy: 'write settings as {"limits": {"memory": "2g"}}',
  })
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidInputError(`${path}: not JSON: ${(error as Error).message}`, {
      remedy: 'write one JSON object, without comments or trailing commas',
      cause: error,
    })
  }
}

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { hostFacts } from '../../config/host-facts.ts'
import { type LoadedSettings, loadSettings } from '../../config/load-settings.ts'
import type { OpenOptions } from '../../index.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import { parsedOption } from './options.ts'

const group = 'Global options:'
const colorModes = ['auto', 'always', 'never'] as const
export type ColorMode = (typeof colorModes)[number]

/** The options that every verb has. */
export interface Globals {
  readonly json: boolean
  readonly home?: string
  /** the daemon to use; `embedded`: none */
  readonly host?: string
  readonly config?: string
  /** make the store of `--home`, if it has none */
  readonly init?: true
  readonly color?: ColorMode
  readonly verbose?: true
}

/** Added to the program and to each verb, so that they are accepted before and after the verb. */
export function addGlobals(command: Command): Command {
  const options = [
    new Option('--json', 'print one JSON document'),
    parsedOption('--home <dir>', 'directory of the store', (dir) => resolve(requireText(dir))),
    new Option('--init', 'make the store of --home if there is none'),
    new Option('--host <host>', 'the daemon to use: unix:///path, http(s)://host:port or embedded'),
    parsedOption('--config <file>', 'a configuration file to read first', requireText),
    new Option('-v, --verbose', 'log background work to stderr'),
    new Option('--color <when>', 'colours in human output').choices(colorModes),
  ]
  for (const option of options) command.addOption(option.helpGroup(group))
  return command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(group))
}

/** Options after the verb override those before it. */
export function readGlobals(command: Command): Globals {
  const given: Partial<Globals> = command.optsWithGlobals()
  const { json = false, home, init, host, config, color, verbose } = given
  return withoutUndefined({ json, home, init, host, config, color, verbose })
}

export function openOptions(globals: Globals): OpenOptions {
  const { home, config, color, verbose } = globals
  const settings = withoutUndefined({
    home,
    runtime: home === undefined ? undefined : runtimeWithoutHome(globals),
    color,
    log: verbose ? 'debug' : undefined,
  })
  return withoutUndefined({ settings, configPath: config })
}

/** The settings that the engine will use, without loading it. */
export function loadGlobalSettings(globals: Partial<Globals>): LoadedSettings {
  const { settings: flags, configPath } = openOptions({ json: false, ...globals })
  return loadSettings({ flags: flags ?? {}, env: process.env, facts: hostFacts(), configPath })
}

/** The launcher installs the private tools without knowing --home, so --home does not move them. */
function runtimeWithoutHome(globals: Globals): string {
  const { home: _, ...rest } = globals
  return loadGlobalSettings(rest).settings.runtime
}

/** An empty path is most likely an unset variable, and does not mean the current directory. */
function requireText(path: string): string {
  if (path !== '') return path
  throw new InvalidInputError('the path is empty', {
    remedy: 'give a path, or leave out the option',
  })
}

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { hostFacts } from '../config/host-facts.ts'
import { type LoadedSettings, loadSettings } from '../config/load-settings.ts'
import type { OpenOptions } from '../index.ts'
import { InvalidInputError } from '../model/errors.ts'
import { parsedOption } from './options.ts'

const group = 'Global options:'
const colorModes = ['auto', 'always', 'never'] as const
export type ColorMode = (typeof colorModes)[number]

/** The options that every verb has. */
export interface Globals {
  readonly json: boolean
  readonly home?: string
  readonly config?: string
  readonly color?: ColorMode
}

/** To the program and to each verb, so that they are accepted before and after it. */
export function addGlobals(command: Command): Command {
  const options = [
    new Option('--json', 'print one JSON document'),
    parsedOption('--home <dir>', 'directory of the store', (dir) => resolve(requireText(dir))),
    parsedOption('--config <file>', 'a configuration file to read first', requireText),
    new Option('--color <when>', 'colours in human output').choices(colorModes),
  ]
  for (const option of options) command.addOption(option.helpGroup(group))
  return command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(group))
}

/** What was given after the verb wins over what was given before. */
export function readGlobals(command: Command): Globals {
  const given: Partial<Globals> = { ...command.parent?.opts(), ...command.opts() }
  const { json = false, home, config, color } = given
  return {
    json,
    ...(home !== undefined && { home }),
    ...(config !== undefined && { config }),
    ...(color !== undefined && { color }),
  }
}

export function openOptions(globals: Globals): OpenOptions {
  const { home, config, color } = globals
  const settings = {
    ...(home !== undefined && { home, runtime: runtimeWithoutHome(globals) }),
    ...(color !== undefined && { color }),
  }
  return { settings, ...(config !== undefined && { configPath: config }) }
}

/** The settings as the engine will have them, without loading it. */
export function loadGlobalSettings(globals: Partial<Globals>): LoadedSettings {
  const { settings: flags, configPath } = openOptions({ json: false, ...globals })
  return loadSettings({ flags: flags ?? {}, env: process.env, facts: hostFacts(), configPath })
}

/** The launcher has put the private tools where they are without --home; there they stay. */
function runtimeWithoutHome(globals: Globals): string {
  const { home: _, ...rest } = globals
  return loadGlobalSettings(rest).settings.runtime
}

/** An empty word is a variable that was not set, and not this directory. */
function requireText(path: string): string {
  if (path !== '') return path
  throw new InvalidInputError('the path is empty', {
    remedy: 'give a path, or leave out the option',
  })
}

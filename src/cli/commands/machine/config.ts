import { hostFacts } from '../../../config/host-facts.ts'
import type { Origin } from '../../../config/load-settings.ts'
import {
  isSettingKey,
  type SettingKey,
  schema,
  settingKeys,
  variableOf,
} from '../../../config/schema.ts'
import { writeSetting } from '../../../config/write-config.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { closest } from '../../../model/text/closest.ts'
import { quote } from '../../../model/text/quote.ts'
import { loadGlobalSettings } from '../../arguments/globals.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { keyValues } from '../../render/layout/key-values.ts'
import { table } from '../../render/layout/table.ts'
import { formatSetting } from '../../render/setting.ts'

type Entry = Origin & { readonly key: SettingKey; readonly variable: string }

export const make: MakeCommand = (command, cli) => {
  command
    .description('Show the effective settings, and where each comes from, or change one.')
    .usage('[options] [KEY] · get KEY · set KEY VALUE')
    .argument('[key]', 'only this setting, with the values it accepts')
    .action((key: string | undefined, _options, self) =>
      cli.perform(self, (context) =>
        key === undefined ? showAll(context) : showOne(context, requireKey(key)),
      ),
    )
  command
    .command('get')
    .summary('print the value of a setting')
    .description('Print the effective value of a setting, and nothing else.')
    .argument('<key>', 'the setting')
    .action((key: string, _options, self) =>
      cli.perform(self, async (context) => {
        const entry = entryOf(context, requireKey(key))
        await context.show({ json: entry, text: () => formatSetting(entry.key, entry.value) })
      }),
    )
  command
    .command('set')
    .summary('change a setting')
    .description('Write a setting into your configuration file, or the one that --config names.')
    .argument('<key>', 'the setting')
    .argument('<value>', 'its new value; a list is written with commas')
    .action((key: string, value: string, _options, self) =>
      cli.perform(self, (context) => change(context, requireKey(key), value)),
    )
  return addExamples(command, [
    ['forkpoint config', 'every setting'],
    ['forkpoint config limits.memory', 'one, and the values it accepts'],
    ['forkpoint config set net.mode nat', 'new environments have a network from now on'],
    ['forkpoint config get net.mode', 'for a script'],
    ['FORKPOINT_NET_MODE=nat forkpoint config net.mode', 'a variable overrides a file'],
  ])
}

function entryOf({ globals }: Context, key: SettingKey): Entry {
  return { key, ...loadGlobalSettings(globals).origins[key], variable: variableOf(key) }
}

async function showAll(context: Context): Promise<void> {
  const { origins } = loadGlobalSettings(context.globals)
  const entries = settingKeys.map((key) => ({ key, ...origins[key], variable: variableOf(key) }))
  await context.show({ json: entries, text: (style) => table(columns, entries, style) })
}

async function showOne(context: Context, key: SettingKey): Promise<void> {
  const entry = entryOf(context, key)
  const { accepts, doc } = schema[key]
  await context.show({
    json: { ...entry, accepts, doc },
    text: (style) => keyValues([...facts(entry), ['accepts', accepts], ['meaning', doc]], style),
  })
}

async function change(context: Context, key: SettingKey, value: string): Promise<void> {
  const { config: configPath } = context.globals
  const path = writeSetting(key, value, { env: process.env, facts: hostFacts(), configPath })
  const entry = entryOf(context, key)
  await context.show({
    json: { ...entry, path },
    text: () =>
      [
        `wrote ${key} to ${path}; it is ${formatSetting(key, entry.value)}`,
        ...overridden(entry, path),
      ].join('\n'),
  })
}

/** What was written may not be what counts. */
function overridden(entry: Entry, path: string): string[] {
  if (entry.origin === 'file' && entry.where === path) return []
  return [`this counts instead: ${originOf(entry)}`]
}

const columns = [
  { title: 'SETTING', cell: (entry: Entry) => entry.key },
  { title: 'VALUE', cell: (entry: Entry) => formatSetting(entry.key, entry.value) },
  { title: 'FROM', cell: originOf },
] as const

function facts(entry: Entry): [string, string][] {
  return [
    ['value', formatSetting(entry.key, entry.value)],
    ['from', originOf(entry)],
    ['variable', entry.variable],
  ]
}

function originOf({ origin, where }: Entry): string {
  return where ?? (origin === 'flag' ? 'command line' : origin)
}

function requireKey(key: string): SettingKey {
  if (isSettingKey(key)) return key
  const meant = closest(key, settingKeys)
  throw new InvalidInputError(`unknown setting ${quote(key)}`, {
    remedy:
      meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : '`forkpoint config` lists them',
  })
}

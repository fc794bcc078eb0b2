import type { Origin } from '../../../config/load-settings.ts'
import {
  isSettingKey,
  type SettingKey,
  schema,
  settingKeys,
  variableOf,
} from '../../../config/schema.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { closest } from '../../../model/text/closest.ts'
import { quote } from '../../../model/text/quote.ts'
import { loadGlobalSettings } from '../../arguments/globals.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { keyValues } from '../../render/layout/key-values.ts'
import { table } from '../../render/layout/table.ts'
import { formatSetting } from '../../render/setting.ts'

type Entry = Origin & { readonly key: SettingKey; readonly variable: string }

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show the effective settings, and where each comes from.')
      .argument('[key]', 'only this setting, with the values it accepts')
      .action((key: string | undefined, _options, self) =>
        cli.perform(self, async (context) => {
          const wanted = key === undefined ? undefined : requireKey(key)
          const { origins } = loadGlobalSettings(context.globals)
          const entryOf = (each: SettingKey): Entry => ({
            key: each,
            ...origins[each],
            variable: variableOf(each),
          })
          if (wanted === undefined) {
            const entries = settingKeys.map(entryOf)
            await context.show({ json: entries, text: (style) => table(columns, entries, style) })
            return
          }
          const entry = entryOf(wanted)
          const { accepts, doc } = schema[wanted]
          await context.show({
            json: { ...entry, accepts, doc },
            text: (style) =>
              keyValues([...facts(entry), ['accepts', accepts], ['meaning', doc]], style),
          })
        }),
      ),
    [
      ['forkpoint config', 'every setting'],
      ['forkpoint config limits.memory', 'one, and the values it accepts'],
      ['FORKPOINT_NET_MODE=nat forkpoint config net.mode', 'a variable overrides a file'],
    ],
  )

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

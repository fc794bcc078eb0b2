import type { Origin } from '../../config/load-settings.ts'
import {
  isSettingKey,
  type SettingKey,
  schema,
  settingKeys,
  variableOf,
} from '../../config/schema.ts'
import { closest } from '../../model/closest.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { loadGlobalSettings } from '../globals.ts'
import { addExamples } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { keyValues } from '../render/key-values.ts'
import { formatSetting } from '../render/setting.ts'
import { table } from '../render/table.ts'

type Entry = Origin & { readonly key: SettingKey; readonly variable: string }

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Shows the effective settings, and where each comes from.')
      .argument('[key]', 'only this setting, with what it accepts')
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
              keyValues([...facts(entry), ['accepts', accepts], ['what it is', doc]], style),
          })
        }),
      ),
    [
      ['forkpoint config', 'every setting'],
      ['forkpoint config limits.memory', 'one, and what it accepts'],
      ['FORKPOINT_NET_MODE=nat forkpoint config net.mode', 'a variable wins over a file'],
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
    remedy: meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : 'see forkpoint config',
  })
}

import { Option } from 'commander'
import type { PolicyOptions, WakeMode } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { type IdlePolicy, parseIdle, parseTtl, wakeModes } from '../../../model/policy.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { parsedOption } from '../../arguments/options.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { keyValues } from '../../render/layout/key-values.ts'
import { policyFacts } from '../../render/policy.ts'

interface Options {
  readonly ttl?: number | null
  readonly idle?: IdlePolicy | null
  readonly wake?: WakeMode
  readonly none?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show or change what happens to an environment by itself.')
      .argument('<env>', envArgument)
      .addOption(
        parsedOption('--ttl <duration>', 'remove it after this time, or none', orNone(parseTtl)),
      )
      .addOption(
        parsedOption(
          '--idle <duration=action>',
          'if nobody uses it: pause, release or remove it, such as 10m=pause, or none',
          orNone(parseIdle),
        ),
      )
      .addOption(new Option('--wake <mode>', 'which sleep ends when it is used').choices(wakeModes))
      .option('--none', 'no time to live and no idle policy')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          const changes = changesOf(options)
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          if (Object.keys(changes).length > 0) await environment.setPolicy(changes)
          const { id, name, status, policy } = environment.lastInfo
          await context.show({
            json: { id, name, status, ...policy },
            text: (style) => keyValues(policyFacts(policy, Date.now()), style),
          })
        }),
      ),
    [
      ['forkpoint policy web', 'what will happen, and when'],
      ['forkpoint policy web --ttl 2h --idle 10m=pause', 'two hours to live; pause it meanwhile'],
      ['forkpoint policy web --none', 'keep it until it is removed'],
    ],
  )

function changesOf({ ttl, idle, wake, none }: Options): PolicyOptions {
  if (none === undefined) return withoutUndefined({ ttlMs: ttl, idle, wake })
  if (ttl === undefined && idle === undefined)
    return withoutUndefined({ ttlMs: null, idle: null, wake })
  throw new InvalidInputError('--none cannot be used with --ttl or --idle', {
    remedy: 'leave out --none, or the others',
  })
}

function orNone<T>(parse: (value: string) => T): (value: string) => T | null {
  return (value) => (value === 'none' ? null : parse(value))
}

import type { Command } from 'commander'
import type { NewToken, TokenInfo, TokenOptions } from '../../../index.ts'
import { parseAge } from '../../../model/values/quantities.ts'
import { type Scope, scopes } from '../../../model/values/scopes.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { parseScopes } from '../../arguments/scopes.ts'
import type { Cli } from '../../cli.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { table } from '../../render/layout/table.ts'

interface CreateOptions {
  readonly scope?: Scope
  readonly expires?: number
  readonly label?: Readonly<Record<string, string>>
  readonly e2b?: true
}

export const make: MakeCommand = (command, cli) => {
  command.description('Manage the tokens with which clients use a daemon over the network.')
  addCreate(command, cli)
  addList(command, cli)
  addRemove(command, cli)
  addRotate(command, cli)
  return addExamples(command, [
    ['forkpoint token create ci --scope branch --expires 30d', 'for a build machine'],
    ['forkpoint token create --label tenant=a', 'only for environments with this label'],
    ['forkpoint token rotate ci', 'another secret; the old one is refused from now on'],
  ])
}

function addCreate(command: Command, cli: Cli): void {
  command
    .command('create')
    .description('Create a token and print it. It is shown only this once.')
    .argument('[name]', 'a name to find it by')
    .addOption(
      parsedOption(
        '--scope <scopes>',
        `${scopes.join(', ')}; each includes those before it (default: branch)`,
        parseScopes,
      ),
    )
    .addOption(
      parsedOption('--expires <age>', 'how long it is valid, such as 12h or 30d', parseAge),
    )
    .addOption(pairsOption('--label <key=value>', 'only for environments with this label'))
    .option('--e2b', 'in the form of a key of E2B')
    .action((name: string | undefined, options: CreateOptions, self) =>
      cli.perform(self, async (context) => {
        await using forkpoint = await context.open()
        await showSecret(context, await forkpoint.tokens.create(tokenOptions(name, options)))
      }),
    )
}

function addList(command: Command, cli: Cli): void {
  command
    .command('ls')
    .description('List the tokens, without their secrets.')
    .action((_options, self) =>
      cli.perform(self, async (context) => {
        await using forkpoint = await context.open()
        const all = await forkpoint.tokens.list()
        await context.show({
          json: all,
          text: (style) =>
            all.length === 0 ? style.faint('no tokens') : table(columns, all, style),
        })
      }),
    )
}

function addRemove(command: Command, cli: Cli): void {
  command
    .command('rm')
    .description('Remove tokens. They are refused from now on.')
    .argument('<token...>', 'names or ids')
    .action((references: string[], _options, self) =>
      cli.perform(self, async (context) => {
        await using forkpoint = await context.open()
        for (const reference of references) await forkpoint.tokens.remove(reference)
        await context.show({ json: { removed: references }, text: () => '' })
      }),
    )
}

function addRotate(command: Command, cli: Cli): void {
  command
    .command('rotate')
    .description('Give a token another secret and print it. The old one is refused from now on.')
    .argument('<token>', 'name or id')
    .action((reference: string, _options, self) =>
      cli.perform(self, async (context) => {
        await using forkpoint = await context.open()
        await showSecret(context, await forkpoint.tokens.rotate(reference))
      }),
    )
}

const columns = [
  { title: 'ID', cell: ({ id }: TokenInfo) => id },
  { title: 'NAME', cell: ({ name }: TokenInfo) => name ?? '' },
  { title: 'SCOPES', cell: (token: TokenInfo) => token.scopes.join(',') },
  { title: 'LABELS', cell: ({ labels }: TokenInfo) => pairs(labels) },
  {
    title: 'EXPIRES',
    cell: ({ expiresAt }: TokenInfo) =>
      expiresAt === null ? 'never' : new Date(expiresAt).toISOString(),
  },
] as const

function pairs(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

function tokenOptions(name: string | undefined, options: CreateOptions): TokenOptions {
  const { scope, expires, label, e2b } = options
  const form = e2b ? ('e2b' as const) : undefined
  return withoutUndefined({ name, scope, expiresMs: expires, labels: label, form })
}

async function showSecret(context: Context, created: NewToken): Promise<void> {
  await context.show({ json: created, text: () => created.token })
}

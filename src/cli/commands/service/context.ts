import type { Command } from 'commander'
import { parseAddress } from '../../../client/address.ts'
import {
  type Contexts,
  contextsPath,
  type HostContext,
  readContexts,
  requireContext,
  writeContexts,
} from '../../../client/contexts.ts'
import { parseName } from '../../../model/values/names.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import type { Cli } from '../../cli.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { table } from '../../render/layout/table.ts'

interface Options {
  readonly token?: string
  readonly ca?: string
}

export const make: MakeCommand = (command, cli) => {
  command.description('Choose the daemon that commands use.')
  change(command, 'add', 'Add a daemon, and use it from now on.')
    .argument('<name>', 'what to call it')
    .argument('<host>', 'unix:///path, http://host:port or https://host:port')
    .option('--token <token>', 'the token to use there (default: FORKPOINT_TOKEN)')
    .option('--ca <file>', 'certificates to trust, as PEM')
    .action((name: string, host: string, { token, ca }: Options, self) =>
      save(cli, self, (all) => {
        parseAddress(host)
        const added = withoutUndefined({ host, token: token ?? process.env.FORKPOINT_TOKEN, ca })
        const contexts = { ...all.contexts, [parseName(name)]: added }
        return { current: name, contexts }
      }),
    )
  change(command, 'use', 'Use this daemon from now on; `local` is this machine again.')
    .argument('<name>')
    .action((name: string, _options, self) =>
      save(cli, self, (all) => {
        if (name === local) return { ...all, current: null }
        requireContext(all, name)
        return { ...all, current: name }
      }),
    )
  change(command, 'rm', 'Forget a daemon.')
    .argument('<name>')
    .action((name: string, _options, self) =>
      save(cli, self, (all) => {
        requireContext(all, name)
        const { [name]: _gone, ...contexts } = all.contexts
        return { current: all.current === name ? null : all.current, contexts }
      }),
    )
  change(command, 'ls', 'List the daemons, and which one is in use.').action((_options, self) =>
    save(cli, self, (all) => all),
  )
  return addExamples(command, [
    ['forkpoint context add build https://build-1:7070 --token "$TOKEN"', 'use another machine'],
    ['forkpoint context use local', 'this machine again'],
  ])
}

/** The context of whoever uses none. */
const local = 'local'

function change(command: Command, name: string, description: string): Command {
  return command.command(name).description(description)
}

/** Changes the file, and shows what it holds then, without tokens. */
function save(cli: Cli, self: Command, edit: (all: Contexts) => Contexts): Promise<void> {
  return cli.perform(self, async (context) => {
    const path = contextsPath(process.env)
    const before = readContexts(path)
    const after = edit(before)
    if (after !== before) writeContexts(path, after)
    const rows = rowsOf(after)
    await context.show({ json: rows, text: (style) => table(columns, rows, style) })
  })
}

interface Row extends Pick<HostContext, 'host'> {
  readonly name: string
  readonly inUse: boolean
}

function rowsOf({ current, contexts }: Contexts): Row[] {
  const named = Object.entries(contexts).map(([name, { host }]) => ({
    name,
    host,
    inUse: name === current,
  }))
  return [{ name: local, host: 'this machine', inUse: current === null }, ...named]
}

const columns = [
  { title: '', cell: ({ inUse }: Row) => (inUse ? '*' : ' ') },
  { title: 'NAME', cell: ({ name }: Row) => name },
  { title: 'HOST', cell: ({ host }: Row) => host },
] as const

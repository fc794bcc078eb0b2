import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { quote } from '../../model/text/quote.ts'
import { requireConsent } from '../confirm.ts'
import type { Context } from '../context.ts'

/** Verbs that begin something; a home that does not exist yet is what they are for. */
const beginning: ReadonlySet<string> = new Set([
  'create',
  'run',
  'attach',
  'serve',
  'quickstart',
  'repl',
  'bench',
  'mcp',
])

/** A directory that was mistyped would otherwise become an empty store, and everything would seem to be gone. */
export async function requireStore(context: Context, verb: string): Promise<void> {
  const { home, init } = context.globals
  if (home === undefined || init || beginning.has(verb)) return
  if (existsSync(join(home, 'db.sqlite'))) return
  await requireConsent(context, {
    what: `${quote(home)} holds no store of Forkpoint`,
    remedy: 'correct --home, or make a store there with --init',
  })
}

import type { fileOperations } from '../../api/contract/files.ts'
import { changesFor, digestsFor } from '../copying/applicable-changes.ts'
import { diffBetween } from '../copying/compare.ts'
import { entriesOf } from '../copying/entries.ts'
import type { Handlers } from './handlers.ts'

export const fileHandlers: Handlers<keyof typeof fileOperations> = {
  'files.diff': async (engine, { of, to, ...options }) =>
    await diffBetween(engine, of, to, options),
  'files.changes': async (engine, input) => await changesFor(engine, input),
  'files.entries': async (engine, input) => await entriesOf(engine, input),
  'files.digests': async (engine, input) => await digestsFor(engine, input),
}

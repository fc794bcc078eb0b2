import * as z from 'zod/mini'
import { InvalidInputError } from '../../model/errors.ts'
import type { CreateSpec } from '../backend.ts'
import type { Extras } from '../facets.ts'
import type { Room } from './room.ts'
import { parseRunArguments } from './run-arguments/parse.ts'
import { noRunOptions, runOptionsSchema } from './run-arguments/run-options.ts'
import { openExportDir } from './snapshots/export-dir.ts'

const keptSchema = z.object({ run: runOptionsSchema, exportDir: z.nullable(z.string()) })

/** What this backend kept of the caller's extras. */
export async function extrasOf(
  room: Room,
  { extras }: Pick<CreateSpec, 'extras'>,
): Promise<z.infer<typeof keptSchema>> {
  const none = { run: noRunOptions, exportDir: null }
  const { run, exportDir } = extras === undefined ? none : keptSchema.parse(extras)
  const configured = exportDir === null && room.exportDir !== null
  return { run, exportDir: configured ? await openExportDir(room.exportDir) : exportDir }
}

export function extras({ kind }: Room): Extras {
  return {
    accept: async ({ extraArgs = [], exportDir }) => {
      if (exportDir !== undefined && kind.checkpoints !== 'archive') {
        throw new InvalidInputError(`the ${kind.name} backend has no option exportDir`, {
          remedy: 'leave it out, or use the podman-criu backend',
          detail: { option: 'exportDir' },
        })
      }
      const { run, ...common } = parseRunArguments(extraArgs)
      const directory = exportDir === undefined ? null : await openExportDir(exportDir)
      return { ...common, kept: { run, exportDir: directory } }
    },
  }
}

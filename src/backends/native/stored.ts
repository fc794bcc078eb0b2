import * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'
import type { Layer } from './cell/cell.ts'

export const layerSchema: z.ZodMiniType<Layer> = z.object({
  path: z.string(),
  ids: z.enum(['host', 'cell']),
})

/** Parses what the store keeps for this backend. */
export function stored<T>(what: string, schema: z.ZodMiniType<T>, record: unknown): T {
  const parsed = schema.safeParse(record)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || 'the whole record'
  throw new BackendError(`the store has an unreadable ${what} of the native backend`, {
    remedy: 'use the version of Forkpoint that wrote it, or remove it',
    detail: { where, why: issue?.message ?? 'unknown' },
  })
}

import type * as z from 'zod/mini'
import { BackendError } from '../../model/errors.ts'

/** An answer as its schema describes it. */
export function parsedAnswer<T>(
  schema: z.ZodMiniType<T>,
  answer: unknown,
  { where, name }: { readonly where: string; readonly name: string },
): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw new BackendError(`${where} answered ${name} in an unknown form`, {
    remedy: 'use the same version of Forkpoint on both sides',
    detail: { why: parsed.error.issues[0]?.message },
  })
}

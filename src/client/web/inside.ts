import * as z from 'zod/mini'
import { filledPath, insidePath } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import { withQuery } from '../link/sent.ts'
import type { Fetcher } from './fetcher.ts'

export interface Abortable {
  readonly signal?: AbortSignal
}

interface Wanted<T> extends Abortable {
  readonly below: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly item: z.ZodMiniType<T>
}

/** A list of something inside an environment. */
export async function listInside<T>(
  fetcher: Fetcher,
  id: string,
  { signal, below, query = {}, item }: Wanted<T>,
): Promise<readonly T[]> {
  const path = withQuery(
    filledPath(insidePath(below), () => id),
    query,
  )
  const sent = { method: 'GET', path, signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(z.array(item), answer, { where: fetcher.where, name: below })
}

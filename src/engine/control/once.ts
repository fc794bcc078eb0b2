import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import type { OperationName } from '../../api/contract/contract.ts'
import { errorData } from '../../api/contract/data/data.ts'
import { ConflictError, errorFromJson, ForkpointError, toJson } from '../../model/errors.ts'
import { withinRequest } from '../../store/requests.ts'
import type { Engine } from '../engine.ts'
import { reconcile } from '../recovery/reconcile.ts'

/** A call that is carried out once, however often it is made. */
export interface Request {
  readonly key: string
  readonly name: OperationName | string
  readonly input: unknown
}

const outcome = z.union([z.object({ answer: z.unknown() }), z.object({ error: errorData })])

/** Failures that the same call would meet again. Others are tried again by a retry. */
const lasting: ReadonlySet<string> = new Set([
  'not_found',
  'conflict',
  'invalid_input',
  'unsupported',
])

const lookEveryMs = 20

/**
 * Carries out a request, or returns the answer that it had before. If the process that carried it out was
 * killed, `found` returns the answer from what that process did; undefined: nothing is left of it.
 */
export async function once<T>(
  engine: Engine,
  request: Request,
  work: () => Promise<T>,
  found: () => Promise<T | undefined>,
): Promise<T> {
  const { requests } = engine.store
  const digest = hash('sha256', JSON.stringify([request.name, request.input]))
  for (;;) {
    const begun = requests.begin(request.key, digest)
    switch (begun.state) {
      case 'mine':
        return await carriedOut(engine, request, work)
      case 'abandoned':
        return await carriedOut(engine, request, async () => {
          await reconcile(engine)
          return (await found()) ?? (await work())
        })
      case 'done':
        return answerOf<T>(begun.outcome)
      case 'other-input':
        throw otherInput(request)
      case 'elsewhere':
        await sleep(lookEveryMs)
    }
  }
}

async function carriedOut<T>(
  { store: { requests } }: Engine,
  { key }: Request,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const answer = await withinRequest(key, work)
    requests.finish(key, { answer })
    return answer
  } catch (error) {
    if (error instanceof ForkpointError && lasting.has(error.code)) {
      requests.finish(key, { error: toJson(error) })
    } else {
      requests.forget(key)
    }
    throw error
  }
}

function answerOf<T>(stored: unknown): T {
  const parsed = outcome.parse(stored)
  if ('error' in parsed) throw errorFromJson(parsed.error)
  return parsed.answer as T
}

function otherInput({ name }: Request): ConflictError {
  return new ConflictError(`the idempotency key was used before, for another call of ${name}`, {
    remedy: 'use a new key for each call, and the same only to repeat it',
  })
}

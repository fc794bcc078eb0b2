import * as z from 'zod/mini'
import { errorData } from '../api/contract/data/data.ts'
import { BackendError, errorFromJson, type ForkpointError } from '../model/errors.ts'

const errorBody = z.object({ error: errorData })

/** The error in the body of an answer that is not a success. */
export function failureIn(status: number | undefined, body: string): ForkpointError {
  const parsed = errorBody.safeParse(parsedJson(body))
  if (parsed.success) return errorFromJson(parsed.data.error)
  return new BackendError(`the daemon answered with status ${status}`, {
    remedy: 'check that the address is that of a Forkpoint daemon',
    detail: { body: body.slice(0, 1000) },
  })
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

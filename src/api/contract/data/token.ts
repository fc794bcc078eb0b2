import * as z from 'zod/mini'
import { scopes } from '../../../model/values/scopes.ts'
import * as d from './data.ts'

const fields = {
  id: z.string(),
  name: z.nullable(z.string()),
  /** the one it was given, and those that this one includes */
  scopes: z.array(z.enum(scopes)),
  /** it only reaches environments that carry all of these */
  labels: d.textMap,
  createdAt: d.time,
  /** null: it is valid until it is removed */
  expiresAt: z.nullable(d.time),
}

export const tokenInfo = z.object(fields)

export type TokenInfo = d.Data<typeof tokenInfo>

/** The only time that the secret is shown. */
export const newToken = z.object({ ...fields, token: z.string() })

export type NewToken = d.Data<typeof newToken>

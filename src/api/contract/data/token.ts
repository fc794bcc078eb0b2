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

/** What a daemon answers to whoever wants to log a browser in. */
export const loginLink = z.object({
  /** goes into the fragment of the dashboard's address: `/#login=CODE` */
  code: z.string(),
  expiresAt: d.time,
  /** where browsers reach the daemon; empty if it only listens on its Unix socket */
  addresses: z.array(z.string()),
})

export type LoginLink = d.Data<typeof loginLink>

const { createdAt: _createdAt, expiresAt: _expiresAt, ...principalFields } = fields

/** Who makes a request, and what it may do. */
export const principalInfo = z.object(principalFields)

export type PrincipalInfo = d.Data<typeof principalInfo>

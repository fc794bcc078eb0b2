import { timingSafeEqual } from 'node:crypto'
import { PermissionError } from '../../model/errors.ts'
import { digestOf, type TokenRecord } from '../../store/tokens.ts'
import type { Engine } from '../engine.ts'
import { partsOf } from './token-handlers.ts'

/** Compared with if there is no such token, so that both cases take equally long. */
const nobody = digestOf('')

/** The record of a token that is valid now; rejects any other. Reads the store, so changes count at once. */
export function tokenRecord({ store }: Engine, token: string): TokenRecord {
  const parts = partsOf(token)
  const record = parts === null ? undefined : store.tokens.get(parts.id)
  const isSame = isEqual(digestOf(parts?.secret ?? ''), record?.digest ?? nobody)
  if (record === undefined || !isSame) {
    throw new PermissionError('the token is not valid', {
      remedy: 'check that it is complete; `forkpoint token ls` lists those there are',
    })
  }
  return valid(record)
}

/** The same by its id, for what was derived from it. */
export function tokenById({ store }: Engine, id: string): TokenRecord {
  const record = store.tokens.get(id)
  if (record !== undefined) return valid(record)
  throw new PermissionError('the token was removed', {
    remedy: 'make a new one with `forkpoint token create`',
  })
}

function valid(record: TokenRecord): TokenRecord {
  if (record.expiresAt === null || record.expiresAt > Date.now()) return record
  throw new PermissionError('the token has expired', {
    remedy: 'make a new one with `forkpoint token create`',
    detail: { token: record.id, expiredAt: record.expiresAt },
  })
}

function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

import { randomBytes } from 'node:crypto'
import type { NewToken, TokenInfo } from '../../api/contract/data/token.ts'
import type { tokenOperations } from '../../api/contract/tokens.ts'
import { scopesOf } from '../../model/values/scopes.ts'
import { digestOf, type TokenRecord } from '../../store/tokens.ts'
import type { Handlers } from './handlers.ts'

const idBytes = 4
const secretBytes = 16

/** `fp_` or `e2b_`, the id, and the secret, in hexadecimal. */
const shape = /^(?:fp|e2b)_([0-9a-f]{8})([0-9a-f]{32})$/

export const tokenHandlers: Handlers<keyof typeof tokenOperations> = {
  'token.create': async ({ store }, { name, scope = 'branch', labels = {}, expiresMs, form }) => {
    const secret = newSecret()
    const createdAt = Date.now()
    const record: TokenRecord = {
      id: randomBytes(idBytes).toString('hex'),
      name: name ?? null,
      digest: digestOf(secret),
      form: form === 'e2b' ? 'e2b' : 'fp',
      scope,
      labels,
      createdAt,
      expiresAt: expiresMs === undefined ? null : createdAt + expiresMs,
    }
    store.tokens.insert(record)
    return shown(record, secret)
  },
  'token.list': async ({ store }) => store.tokens.list().map(infoOf),
  'token.rotate': async ({ store }, { reference }) => {
    const record = store.tokens.resolve(reference)
    const secret = newSecret()
    store.tokens.replaceDigest(record.id, digestOf(secret))
    return shown(record, secret)
  },
  'token.remove': async ({ store }, { reference }) => {
    store.tokens.remove(store.tokens.resolve(reference).id)
    return null
  },
}

/** The two parts of a token; null if it cannot be one. */
export function partsOf(token: string): { readonly id: string; readonly secret: string } | null {
  const [, id, secret] = shape.exec(token) ?? []
  return id === undefined || secret === undefined ? null : { id, secret }
}

function newSecret(): string {
  return randomBytes(secretBytes).toString('hex')
}

function infoOf({ id, name, scope, labels, createdAt, expiresAt }: TokenRecord): TokenInfo {
  return { id, name, scopes: scopesOf(scope), labels, createdAt, expiresAt }
}

function shown(record: TokenRecord, secret: string): NewToken {
  return { ...infoOf(record), token: `${record.form}_${record.id}${secret}` }
}

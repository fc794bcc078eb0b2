import { type Client, connect, login, type PrincipalInfo } from 'forkpoint/client'
import { type Connection, watchConnection } from './connection.ts'
import { forgetToken, type KeptToken, keepToken, keptToken } from './kept-token.ts'

export type Scope = PrincipalInfo['scopes'][number]

/** Somebody who is logged in, and what the page may do for them. */
export interface Session {
  readonly client: Client
  readonly principal: PrincipalInfo
  readonly connection: Connection
  /** for what the client has no method for, such as a WebSocket */
  readonly token: string
  can(scope: Scope): boolean
  /** Ends it; a token that was made for this page is removed. */
  leave(): Promise<void>
}

/** The code of a one-time link, which is taken out of the address at once. */
export function takeCode(): string | null {
  const [, code] = /^#login=([\w-]+)$/.exec(location.hash) ?? []
  if (code === undefined) return null
  history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** Exchanges a code for a session. */
export async function sessionFromCode(code: string): Promise<Session> {
  const { token } = await login(location.origin, code)
  return await openSession({ token, origin: 'link' })
}

export async function sessionFromTab(): Promise<Session | null> {
  const kept = keptToken()
  return kept && (await openSession(kept))
}

export async function openSession(kept: KeptToken): Promise<Session> {
  const connection = watchConnection()
  const { token } = kept
  const client = connect(location.origin, { token, fetch: connection.fetch })
  const principal = await client.principal()
  keepToken(kept)
  const held = new Set<string>(principal.scopes)
  return {
    client,
    principal,
    connection,
    token,
    can: (scope) => held.has(scope),
    leave: async () => {
      forgetToken()
      // A daemon that is away cannot remove it; it expires by itself.
      if (kept.origin === 'link') await client.logOut().catch(() => {})
      client.close()
    },
  }
}

/**
 * The token is kept for this tab alone, so that a reload stays logged in: `sessionStorage` ends with the tab, and
 * no request carries it by itself.
 */
const key = 'forkpoint.token'

export interface KeptToken {
  readonly token: string
  /** `link`: it was made for this page, which gives it back; `pasted`: it is the user's own */
  readonly origin: 'link' | 'pasted'
}

export function keptToken(): KeptToken | null {
  const text = sessionStorage.getItem(key)
  if (text === null) return null
  const [origin, token] = text.split(' ')
  if (token === undefined || (origin !== 'link' && origin !== 'pasted')) return null
  return { token, origin }
}

export function keepToken({ token, origin }: KeptToken): void {
  sessionStorage.setItem(key, `${origin} ${token}`)
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
}

import {
  type NewToken,
  newToken,
  type PrincipalInfo,
  principalInfo,
} from '../../api/contract/data/token.ts'
import { dashboardPaths } from '../../api/contract/routes.ts'
import { parsedAnswer } from '../link/answer.ts'
import type { Fetcher } from './fetcher.ts'

/** Exchanges the code of a link for a token. */
export async function logIn(fetcher: Fetcher, code: string): Promise<NewToken> {
  const sent = { method: 'POST', path: dashboardPaths.login, body: JSON.stringify({ code }) }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(newToken, answer, { where: fetcher.where, name: 'login' })
}

export async function principal(
  fetcher: Fetcher,
  { signal }: { readonly signal?: AbortSignal },
): Promise<PrincipalInfo> {
  const sent = { method: 'GET', path: dashboardPaths.principal, signal }
  const answer: unknown = await fetcher.send(sent, (response) => response.json())
  return parsedAnswer(principalInfo, answer, { where: fetcher.where, name: 'principal' })
}

export async function logOut(fetcher: Fetcher): Promise<void> {
  await fetcher.send({ method: 'POST', path: dashboardPaths.logout, body: '{}' }, async () => {})
}

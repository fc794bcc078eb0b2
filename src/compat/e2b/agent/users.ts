import type { FastifyRequest } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { homeInside } from '../control/create.ts'

/** One line of /etc/passwd inside. */
export interface InsideUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
}

const longestList = 1024 ** 2

/** Whom a call is for: `Authorization: Basic` with a name and no password; undefined: the default. */
export function userOf({ headers }: FastifyRequest): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+)$/.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const [name = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)
  return name === '' ? undefined : name
}

/** Everybody inside, as far as the files say; the files are not trusted. */
export async function usersInside(environment: Environment): Promise<readonly InsideUser[]> {
  return (await lines(environment, '/etc/passwd')).flatMap((fields) => {
    const [name = '', , uid, gid, , home = ''] = fields
    const known = { name, uid: Number(uid), gid: Number(gid), home }
    const isGood = name !== '' && isId(known.uid) && isId(known.gid) && home.startsWith('/')
    return isGood ? [known] : []
  })
}

/** The names of groups, by their ids. */
export async function groupsInside(environment: Environment): Promise<ReadonlyMap<number, string>> {
  const rows = await lines(environment, '/etc/group')
  return new Map(rows.map(([name = '', , gid]) => [Number(gid), name]))
}

async function lines(environment: Environment, path: string): Promise<string[][]> {
  try {
    const text = (await environment.files.read(path, { maxBytes: longestList })).toString('utf8')
    return text.split('\n').map((line) => line.split(':'))
  } catch {
    // An environment need not have users; numbers are shown then.
    return []
  }
}

function isId(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** 32 - 1
}

/** Throws if there is nobody of that name. */
export async function insideUser(environment: Environment, name: string): Promise<InsideUser> {
  const found = (await usersInside(environment)).find((each) => each.name === name)
  if (found !== undefined) return found
  throw new InvalidInputError(`there is no user ${quote(name)} inside`, {
    remedy: 'leave out the user, or use a template that has it',
  })
}

/** An absolute path: relative ones begin in the home of the user. */
export async function pathInside(
  environment: Environment,
  path: string,
  user: string | undefined,
): Promise<string> {
  if (path.startsWith('/')) return path
  const home = user === undefined ? homeInside : (await insideUser(environment, user)).home
  const rest = path === '~' ? '' : path.replace(/^~\//, '')
  return rest === '' || rest === '.' ? home : `${home}/${rest.replace(/^\.\//, '')}`
}

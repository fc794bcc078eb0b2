import type { OperationName } from '../../api/contract/contract.ts'
import { PermissionError } from '../../model/errors.ts'
import { toSourceRequest } from '../../model/source.ts'
import { includesScope } from '../../model/values/scopes.ts'
import { isRestricted, type Principal } from './principal.ts'

/** Options that reach the host itself, such as arguments of `docker run`. */
const adminOptions = ['extraArgs', 'exportDir'] as const

/** Sources that read any path of the host. */
const hostPaths: ReadonlySet<unknown> = new Set([
  'dir',
  'rootfs',
  'dockerfile',
  'oci',
  'archive',
  'container',
])

/** What the scope of an operation does not say: some of its options give more than the operation itself. */
export function requireAllowed(principal: Principal, name: OperationName, input: unknown): void {
  if (name !== 'environment.create' && name !== 'environment.attach') return
  const given = (input ?? {}) as Readonly<Record<string, unknown>>
  const option = adminOptions.find((each) => given[each] !== undefined)
  if (option !== undefined && !includesScope(principal.scope, 'admin')) {
    throw refused(`the option ${option} needs the scope admin`, 'leave it out')
  }
  const kind = toSourceRequest(given.from)?.kind
  if (isRestricted(principal) && hostPaths.has(kind)) {
    throw refused(
      `a token with labels cannot make an environment from ${kind}:`,
      'make it from host, an image or a snapshot',
    )
  }
}

function refused(message: string, remedy: string): PermissionError {
  return new PermissionError(message, { remedy: `${remedy}, or use another token` })
}

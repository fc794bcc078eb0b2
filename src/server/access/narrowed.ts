import { madeBy, type OperationName } from '../../api/contract/contract.ts'
import { toSourceRequest } from '../../model/source.ts'
import { type Principal, requireUnrestricted } from './principal.ts'
import type { Visible } from './visible.ts'

type Fields = Readonly<Record<string, unknown>>

/** Operations on everything there is, and on the tokens. */
const forEverybody: ReadonlySet<OperationName> = new Set<OperationName>([
  'environment.attach',
  'snapshot.prune',
  'images.prune',
  'usage',
  'warnings',
  'failureLogs',
  'spares',
  'token.create',
  'token.list',
  'token.rotate',
  'token.remove',
])

/** Whether it makes something or sets labels; then it always sets those of the token. */
function setsLabels(name: OperationName): boolean {
  return madeBy(name) !== null || name === 'snapshot.label' || name === 'environment.label'
}

/** The fields of inputs that name an environment or a snapshot. */
const naming = ['id', 'of', 'to', 'from', 'reference', 'around', 'environment'] as const

/** The input with which a principal with labels calls an operation, after everything in it was checked. */
export async function narrowed(
  principal: Principal,
  limits: Visible,
  name: OperationName,
  input: Fields,
): Promise<Fields> {
  if (forEverybody.has(name)) requireUnrestricted(principal)
  if (name === 'snapshot.compact' && input.reference === undefined) requireUnrestricted(principal)
  const narrow: Record<string, unknown> = { ...input }
  for (const field of naming) {
    const given = input[field]
    // Names are resolved here, so that what was checked is what is used.
    if (typeof given === 'string' && name !== 'environment.create') {
      narrow[field] = (await limits.find(given)).id
    }
  }
  if (Array.isArray(input.references)) {
    const found = await Promise.all(input.references.map((each) => limits.find(String(each))))
    narrow.references = found.map(({ id }) => id)
  }
  const source = name === 'environment.create' ? toSourceRequest(input.from) : undefined
  if (source?.kind === 'snapshot') {
    narrow.from = { kind: 'snapshot', id: (await limits.find(source.id)).id }
  }
  if (setsLabels(name)) narrow.labels = { ...(input.labels ?? {}), ...principal.labels }
  return narrow
}

import type { Snapshot } from '../../../api/handles/snapshot.ts'
import { NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { E2bOptions, Visit } from '../host.ts'
import { ownSnapshot } from '../owned.ts'

/** What a sandbox is made from. */
export type Origin =
  /** a source that the configuration names, or the default of `create` */
  | { readonly kind: 'source'; readonly from: string | undefined }
  /** a snapshot that the configuration offers to everybody */
  | { readonly kind: 'offered'; readonly name: string }
  /** a snapshot of the key itself */
  | { readonly kind: 'own'; readonly snapshot: Snapshot }

/** The templates that the clients use if they name none. */
const defaults: ReadonlySet<string> = new Set(['base', 'code-interpreter-v1', 'mcp-gateway'])

/** What the name of a template, or the id of a snapshot, means to this key. */
export async function originOf(
  visit: Visit,
  { templates }: Pick<E2bOptions, 'templates'>,
  template: string,
): Promise<Origin> {
  const configured = Object.hasOwn(templates, template) ? templates[template] : undefined
  if (configured?.startsWith('snapshot:')) {
    return { kind: 'offered', name: configured.slice('snapshot:'.length) }
  }
  if (configured !== undefined) return { kind: 'source', from: configured }
  const snapshot = await ownSnapshot(visit, untagged(template))
  if (snapshot !== null) return { kind: 'own', snapshot }
  if (defaults.has(template)) return { kind: 'source', from: undefined }
  throw new NotFoundError(`template ${quote(template)} not found`, {
    remedy: 'name a snapshot, or a template of the setting e2b.templates',
  })
}

/** A snapshot has one version only. */
function untagged(template: string): string {
  return template.replace(/:(?:default|latest)$/, '')
}

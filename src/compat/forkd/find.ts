import type { Environment } from '../../api/handles/environment.ts'
import type { ForkpointHandle } from '../../api/handles/forkpoint.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'
import { NotFoundError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** A snapshot by its tag: its name, or its id if it has none. A shortened id is no tag. */
export async function findSnapshot(fp: ForkpointHandle, tag: string): Promise<Snapshot> {
  const found = await fp.snapshot(tag)
  if (found.id === tag || found.name === tag) return found
  throw missing('snapshot', tag)
}

export async function findSandbox(fp: ForkpointHandle, id: string): Promise<Environment> {
  const found = await fp.get(id)
  if (found.id === id || found.name === id) return found
  throw missing('sandbox', id)
}

export function missing(what: string, given: string): NotFoundError {
  return new NotFoundError(`no ${what} ${quote(given)}`, { remedy: `list the ${listed[what]}` })
}

const listed: Readonly<Record<string, string>> = {
  snapshot: 'snapshots with GET /v1/snapshots',
  sandbox: 'sandboxes with GET /v1/sandboxes',
  workspace: 'workspaces with GET /v1/workspaces',
}

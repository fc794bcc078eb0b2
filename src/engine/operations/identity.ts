import { createHash } from 'node:crypto'
import type { Identity } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Name } from '../../model/values/names.ts'

/** The identity of an environment. Its machine-id is derived from its id, so every fork has its own. */
export function identityOf(record: EnvironmentRecord): Identity {
  const machineId = createHash('sha256')
    .update(`machine-id ${record.id}`)
    .digest('hex')
    .slice(0, 32)
  return { id: record.id, name: record.name, hostname: record.hostname, machineId }
}

/** The name as a hostname: names allow characters that hostnames do not. */
export function hostnameOf(name: Name | null, id: EnvironmentId): string {
  return (name ?? id)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replace(/-+$/, '')
}

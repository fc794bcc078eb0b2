import { availableParallelism, totalmem } from 'node:os'
import type { EnvironmentInfo } from '../../../api/contract/data/environment.ts'
import { includesScope } from '../../../model/values/scopes.ts'
import { accessToken } from '../access.ts'
import type { E2bOptions, KeyHolder } from '../host.ts'
import { ownLabels, ownPrefix } from '../owned.ts'
import { shownNetwork } from './network.ts'

/** The newest feature that the clients ask for by this version. */
export const envdVersion = '0.6.4'

const mib = 1024 ** 2

/** What `create`, `connect` and `fork` answer. */
export function connection(
  { secret }: Pick<E2bOptions, 'secret'>,
  principal: KeyHolder,
  info: EnvironmentInfo,
  domain: string,
): object {
  const token = accessToken(secret, principal.id, info.id)
  return {
    sandboxID: info.id,
    templateID: templateOf(info),
    clientID: 'forkpoint',
    envdVersion,
    domain,
    envdAccessToken: token,
    // The code interpreter's clients show only this one.
    trafficAccessToken: token,
  }
}

/** One row of `list`. */
export function listed(principal: KeyHolder, info: EnvironmentInfo): object {
  const { limits } = info
  return {
    sandboxID: info.id,
    templateID: templateOf(info),
    clientID: 'forkpoint',
    ...(info.name !== null && { alias: info.name }),
    startedAt: new Date(info.createdAt).toISOString(),
    endAt: new Date(endOf(info)).toISOString(),
    state: stateOf(info),
    cpuCount: Math.ceil(limits.cpus ?? availableParallelism()),
    memoryMB: Math.floor((limits.memoryBytes ?? totalmem()) / mib),
    diskSizeMB: Math.floor((limits.diskBytes ?? 0) / mib),
    envdVersion,
    metadata: metadataOf(principal, info),
  }
}

/** What `getInfo` answers. Whoever may only look gets no access token. */
export function detailed(
  options: Pick<E2bOptions, 'secret'>,
  principal: KeyHolder,
  info: EnvironmentInfo,
  domain: string,
): object {
  const { policy, net } = info
  const mayUse = includesScope(principal.scope, 'exec')
  const network = shownNetwork(info)
  return {
    ...listed(principal, info),
    domain,
    allowInternetAccess: net.mode === 'nat',
    lifecycle: {
      onTimeout: policy.ttlAction === 'remove' ? 'kill' : 'pause',
      autoResume: policy.wake === 'always',
    },
    ...(network && { network }),
    ...(mayUse && { envdAccessToken: accessToken(options.secret, principal.id, info.id) }),
  }
}

/** Labels that are neither this wire's own nor those of the key. */
export function metadataOf(
  { labels: ofKey }: Pick<KeyHolder, 'labels'>,
  { labels }: Pick<EnvironmentInfo, 'labels'>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(labels)
  const isShown = (key: string) => !key.startsWith(ownPrefix) && !Object.hasOwn(ofKey, key)
  return Object.fromEntries(entries.filter(([key]) => isShown(key)))
}

/** One that is dead comes back from its last snapshot, as a paused one does. */
export function stateOf({ status }: EnvironmentInfo): 'running' | 'paused' {
  return status === 'running' || status === 'creating' ? 'running' : 'paused'
}

export function templateOf({ labels }: Pick<EnvironmentInfo, 'labels'>): string {
  return labels[ownLabels.template] ?? 'base'
}

/** The clients want a date in every case. */
const longestMs = 10 * 365 * 24 * 3_600_000

function endOf({ policy, createdAt }: EnvironmentInfo): number {
  return policy.expiresAt ?? createdAt + longestMs
}

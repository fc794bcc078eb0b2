import * as z from 'zod/mini'
import type { Environment } from '../../../api/handles/environment.ts'
import type { CreateOptions, ForkpointHandle } from '../../../api/handles/forkpoint.ts'
import { InvalidInputError, PermissionError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { includesScope } from '../../../model/values/scopes.ts'
import { notHere } from '../failures.ts'
import type { E2bOptions, KeyHolder, Visit } from '../host.ts'
import { ownLabels, ownPrefix } from '../owned.ts'
import { lifecycle, policyOf } from './lifecycle.ts'
import { type Egress, isRestricted, network, wantedEgress, wantsPublicPorts } from './network.ts'
import { type Origin, originOf } from './templates.ts'

const textMap = z.record(z.string(), z.string())

export const newSandbox = z.object({
  templateID: z.string().check(z.maxLength(256)),
  ...lifecycle,
  ...network,
  metadata: z.nullish(textMap),
  envVars: z.nullish(textMap),
  mcp: z.nullish(z.unknown()),
  iam: z.nullish(z.unknown()),
  volumeMounts: z.nullish(z.array(z.unknown())),
})

export type NewSandbox = z.infer<typeof newSandbox>

/** Where commands start, and relative paths begin, as in the templates of E2B. */
export const homeInside = '/home/user'

/** Makes a sandbox from a template, or from a snapshot. */
export async function createSandbox(
  visit: Visit,
  options: Pick<E2bOptions, 'templates'> & Pick<E2bHandles, 'onBehalfOf'>,
  wanted: NewSandbox,
): Promise<Environment> {
  requireKnown(wanted)
  const origin = await originOf(visit, options, wanted.templateID)
  const labels = labelsOf(visit.principal, wanted)
  const egress = wantedEgress(wanted)
  if (origin.kind === 'source') {
    return await fromSource(visit, options, origin.from, wanted, labels, egress)
  }
  const made = await fromSnapshot(visit, options, origin, labels, wanted)
  try {
    // A fork has the policy and the network of what it was forked from. The clients always say that a sandbox may
    // reach the internet unless it may not, so this does not open a network that the snapshot has not.
    await made.setPolicy(policyOf(wanted))
    if (isRestricted(egress)) await changeEgress(made, egress)
  } catch (error) {
    await made.remove({ force: true })
    throw error
  }
  return made
}

export async function changeEgress(sandbox: Environment, egress: Egress): Promise<void> {
  const { mode, denyOut, allowOut } = egress
  await sandbox.setNet(mode, mode === 'none' ? {} : { denyOut, allowOut })
}

interface E2bHandles {
  onBehalfOf(principal: KeyHolder): ForkpointHandle
}

async function fromSource(
  visit: Visit,
  { onBehalfOf }: E2bHandles,
  from: string | undefined,
  wanted: NewSandbox,
  labels: Record<string, string>,
  { mode: net, denyOut: netDenyOut, allowOut: netAllowOut }: Egress,
): Promise<Environment> {
  requireBranch(visit.principal)
  const { ttlMs, ttlAction, wake } = policyOf(wanted)
  const create: CreateOptions = {
    ...(from !== undefined && { from }),
    net,
    netDenyOut,
    netAllowOut,
    ...(ttlMs !== null && { ttlMs, ttlAction }),
    env: wanted.envVars ?? {},
    wake,
    labels,
    signal: visit.signal,
  }
  // A source of the configuration is for everybody; its default is not more than the key may have.
  const forkpoint = from === undefined ? visit.forkpoint : onBehalfOf(visit.principal)
  const { id } = await forkpoint.create(create)
  return await furnished(visit, id)
}

/** The key's own handle of a new sandbox, which has the directory that programs for E2B expect. */
async function furnished({ forkpoint }: Visit, id: string): Promise<Environment> {
  const made = await forkpoint.get(id)
  await made.files.mkdir(homeInside, { parents: true })
  return made
}

async function fromSnapshot(
  visit: Visit,
  { onBehalfOf }: E2bHandles,
  origin: Exclude<Origin, { readonly kind: 'source' }>,
  labels: Record<string, string>,
  { envVars }: NewSandbox,
): Promise<Environment> {
  requireBranch(visit.principal)
  const { signal } = visit
  const envs = envVars && Object.keys(envVars).length > 0 ? JSON.stringify(envVars) : undefined
  const wanted = { labels: envs === undefined ? labels : { ...labels, [ownLabels.envs]: envs } }
  const snapshot =
    origin.kind === 'own'
      ? origin.snapshot
      : await onBehalfOf(visit.principal).snapshot(origin.name)
  const [made] = await snapshot.fork(1, { ...wanted, atomic: true, signal })
  if (made === undefined) throw new Error('a fork made nothing')
  return await furnished(visit, made.id)
}

function labelsOf(
  { id, labels }: KeyHolder,
  wanted: Pick<NewSandbox, 'metadata' | 'templateID' | 'network'>,
): Record<string, string> {
  const { metadata, templateID } = wanted
  const reserved = Object.keys(metadata ?? {}).find((key) => key.startsWith(ownPrefix))
  if (reserved !== undefined) {
    throw new InvalidInputError(`the key ${quote(reserved)} of the metadata is reserved`, {
      remedy: `use one that does not begin with "${ownPrefix}"`,
    })
  }
  return {
    ...metadata,
    ...labels,
    [ownLabels.key]: id,
    [ownLabels.template]: templateID,
    ...(!wantsPublicPorts(wanted) && { [ownLabels.public]: 'no' }),
  }
}

/** What was asked for beyond the configuration's templates is the handles' business; these are not. */
function requireBranch({ scope }: KeyHolder): void {
  if (includesScope(scope, 'branch')) return
  throw new PermissionError(`this needs the scope branch, and the key has ${scope}`, {
    remedy: 'use a key with the scope branch',
  })
}

function requireKnown({ mcp, iam, volumeMounts }: NewSandbox): void {
  if (mcp) throw notHere('the MCP gateway', 'use `forkpoint mcp`')
  if (iam) throw notHere('a workload identity', 'leave out `iam`')
  if (volumeMounts?.length) throw notHere('a volume', 'use a snapshot as the template')
}

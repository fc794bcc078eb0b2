import type { Input } from '../../../api/contract/contract.ts'
import type { Backend, ValidSource } from '../../../backends/backend.ts'
import {
  type EnvironmentRecord,
  type Limits,
  type NetSpec,
  rateLimits,
  type Source,
} from '../../../model/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { newEnvironmentId } from '../../../model/ids.ts'
import type { EnvironmentImage, ImageFacts } from '../../../model/image.ts'
import { parseName } from '../../../model/values/names.ts'
import { can, requireCapability } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { policyFor } from '../../policies/set-policy.ts'
import { hostnameOf } from '../identity.ts'
import { hasLists, netSpec } from '../net-spec.ts'

type DraftOptions = Omit<Input<'environment.create'>, 'from'>

/**
 * Checks what the caller asks for against what the backend can do. The function it returns makes the
 * record, once it is known what the source says.
 */
export function draftFor(
  engine: Engine,
  backend: Backend,
  options: DraftOptions,
): (source: Source, valid: ValidSource) => EnvironmentRecord {
  const { settings } = engine
  const id = newEnvironmentId()
  const name = options.name === undefined ? null : parseName(options.name)
  const { net: mode = settings.net.mode, netAllow: allow, netDenyOut, netAllowOut } = options
  const net = netSpec(mode, { allow, denyOut: netDenyOut, allowOut: netAllowOut })
  requireCapabilities(backend, options, net)
  const policy = policyFor(engine, backend, options)
  return (source, { workdir, image }) => ({
    id,
    name,
    backend: backend.name,
    source,
    head: null,
    instance: null,
    status: 'creating',
    limits: { ...configuredLimits(backend, settings.limits), ...options.limits },
    net,
    memory: options.memory ?? settings.memory,
    env: { ...image?.env, ...options.env },
    labels: { ...image?.labels, ...options.labels },
    policy,
    ...(image && { image: keptOf(image) }),
    workdir: options.workdir ?? workdir,
    ...(options.command && { command: options.command }),
    hostname: hostnameOf(name, id),
    createdAt: Date.now(),
  })
}

/** The backend must be able to do everything that the caller asks for. */
function requireCapabilities(backend: Backend, options: DraftOptions, net: NetSpec): void {
  const { limits = {}, memory } = options
  if (Object.keys(limits).length > 0) requireCapability(backend, 'limits')
  if (rateLimits.some((name) => limits[name] !== undefined)) requireCapability(backend, 'rates')
  if (limits.netBytes !== undefined && net.mode === 'none') {
    throw new InvalidInputError('an environment without a network cannot have a network rate', {
      remedy: 'use the network mode nat (`--net nat`), or leave out the rate',
    })
  }
  if (net.mode === 'nat' || hasLists(net)) requireCapability(backend, 'nat')
  if (memory === 'share') requireCapability(backend, 'memory-sharing')
}

/** The configured limits apply to backends that can hold them. */
function configuredLimits(backend: Backend, limits: Limits): Limits {
  if (!can(backend, 'limits')) return {}
  if (can(backend, 'rates')) return limits
  const { ioReadBytes: _read, ioWriteBytes: _write, netBytes: _net, ...others } = limits
  return others
}

/** Without what has become part of the record itself. */
function keptOf({ env: _env, labels: _labels, workdir: _workdir, ...kept }: ImageFacts) {
  return kept satisfies EnvironmentImage
}

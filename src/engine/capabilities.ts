import type { Backend } from '../backends/backend.ts'
import type { Capabilities, Capability } from '../model/capabilities.ts'
import type { Instance } from '../model/environment.ts'
import { notForeign, unsupported } from '../model/unsupported.ts'

/** The facets that users know as capabilities. */
const facetCapabilities = {
  pausing: ['pause'],
  networking: ['net-switch'],
  attaching: ['attach'],
  files: ['diff'],
  connections: ['connections'],
  storage: ['compact', 'durable'],
} as const satisfies Partial<Record<keyof Backend, readonly Capability[]>>

type AskedFacet = keyof typeof facetCapabilities

/** By backend, because every command asks for them. They never change. */
const known = new WeakMap<Backend, Capabilities>()

/** What a backend can do: what it declares, and what follows from its facets. */
export function capabilitiesOf(backend: Backend): Capabilities {
  const capabilities = known.get(backend) ?? findCapabilities(backend)
  known.set(backend, capabilities)
  return capabilities
}

function findCapabilities(backend: Backend): Capabilities {
  const derived = Object.entries(facetCapabilities).flatMap(([facet, capabilities]) =>
    backend[facet as AskedFacet] === undefined ? [] : capabilities,
  )
  return new Set<Capability>([...backend.declares, ...derived])
}

export function can(backend: Backend, capability: Capability): boolean {
  return capabilitiesOf(backend).has(capability)
}

/** What is never done to something that we did not start. */
const neverForeign: readonly Capability[] = ['pause', 'identity', 'limits', 'rates', 'net-switch']

/** What can be done with one life: less if it is, or was copied from, something that was attached. */
export function capabilitiesOfLife(backend: Backend, instance: Instance | null): Capabilities {
  const all = capabilitiesOf(backend)
  const { attaching } = backend
  if (attaching === undefined || instance === null) return all
  const never = isForeign(backend, instance) ? neverForeign : []
  const missing = new Set([...never, ...attaching.lacks(instance)])
  return missing.size === 0 ? all : all.difference(missing)
}

/** Whether a life is something that was attached. */
export function isForeign({ attaching }: Backend, instance: Instance | null): boolean {
  return instance !== null && attaching !== undefined && attaching.keyOf(instance) !== null
}

/** Call it before doing anything to a life that needs the capability. */
export function requireOfLife(
  backend: Backend,
  instance: Instance | null,
  capability: Capability,
): void {
  requireCapability(backend, capability)
  if (!capabilitiesOfLife(backend, instance).has(capability)) {
    throw notForeign(backend.name, capability)
  }
}

/** Call it before doing anything that needs the capability. */
export function requireCapability(backend: Backend, capability: Capability): void {
  if (!can(backend, capability)) throw unsupported(backend.name, capability)
}

/** A facet that the request needs. `capability` names what is missing if the backend lacks it. */
export function requireFacet<F extends AskedFacet>(
  backend: Backend,
  facet: F,
  capability: Capability = facetCapabilities[facet][0],
): NonNullable<Backend[F]> {
  const found = backend[facet]
  if (found === undefined) throw unsupported(backend.name, capability)
  return found
}

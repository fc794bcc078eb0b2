import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { EnvironmentId } from '../model/ids.ts'
import type { Purpose } from './control/agent-transport.ts'

/** The open connections to agents that callers have. */
export interface Transports {
  add(id: EnvironmentId, transport: Duplex, purpose: Purpose): void
  /** Closes those of an environment whose life has ended, so that nobody talks to its old agent. */
  cut(id: EnvironmentId): void
  cutAll(): void
  /** The environments that bytes of users went to or came from since the last call. */
  used(): EnvironmentId[]
}

/** A socket counts its bytes. What does not is taken to be used as long as it is open. */
function trafficOf(transport: Duplex): number {
  const { bytesRead, bytesWritten } = transport as Partial<Socket>
  if (bytesRead === undefined || bytesWritten === undefined) return Number.NaN
  return bytesRead + bytesWritten
}

export function transports(): Transports {
  const open = new Map<EnvironmentId, Set<Duplex>>()
  const counted = new WeakMap<Duplex, number>()
  const watching = new WeakSet<Duplex>()
  const hasTraffic = (transport: Duplex): boolean => {
    if (watching.has(transport)) return false
    const bytes = trafficOf(transport)
    const before = counted.get(transport)
    counted.set(transport, bytes)
    // NaN differs from itself, too.
    return bytes !== before
  }
  const cut = (id: EnvironmentId) => {
    for (const transport of open.get(id) ?? []) transport.destroy()
    open.delete(id)
  }
  return {
    add: (id, transport, purpose) => {
      if (purpose === 'watch') watching.add(transport)
      const all = open.get(id) ?? new Set()
      open.set(id, all.add(transport))
      transport.once('close', () => {
        all.delete(transport)
        if (all.size === 0 && open.get(id) === all) open.delete(id)
      })
    },
    cut,
    cutAll: () => {
      for (const id of [...open.keys()]) cut(id)
    },
    used: () =>
      [...open].flatMap(([id, all]) => ([...all].filter(hasTraffic).length > 0 ? [id] : [])),
  }
}

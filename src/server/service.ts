import type { Duplex } from 'node:stream'
import type { Control } from '../api/control.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { Log } from '../model/log.ts'
import type { SpareKind } from '../model/spare.ts'
import type { Principal } from './access/principal.ts'

/** What the server serves, and who may use it. */
export interface Service {
  readonly control: Control
  /** A connection to an agent for somebody who only looks: the environment is neither woken nor kept awake. */
  watch(id: EnvironmentId): Promise<Duplex>
  readonly version: string
  readonly log: Log
  /** Who a token belongs to; throws if nobody, or if it has expired. */
  principalOf(token: string): Principal
  /** The same by the id of a token, for what was derived from it. */
  principalById(id: string): Principal
  /** Everybody who has a token now. */
  principalIds(): readonly string[]
  /**
   * Carries out a request with a key once. If a killed process began it and `found` returns nothing, it is
   * carried out again.
   */
  once<T>(
    request: KeyedRequest,
    work: () => Promise<T>,
    found: () => Promise<T | undefined>,
  ): Promise<T>
  /** Why it cannot serve now; empty if it can. */
  readiness(): Promise<readonly string[]>
  /** What only this process knows, for metrics. */
  figures(): Figures
  /** Ends the daemon once its requests are answered. */
  stop(): void
}

export interface Figures {
  /** operations that wait for their turn */
  readonly waiting: number
  /** how often a spare was used by a restore or a fork, or none was ready */
  readonly spares: Readonly<Record<'used' | 'missed', Readonly<Record<SpareKind, number>>>>
}

export interface KeyedRequest {
  readonly key: string
  readonly name: string
  readonly input: unknown
}

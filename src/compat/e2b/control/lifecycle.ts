import * as z from 'zod/mini'
import type { IdleAction, WakeMode } from '../../../model/policy.ts'

const mostSeconds = 30 * 24 * 3600

/** In seconds. */
export const timeout = z.number().check(z.minimum(0), z.maximum(mostSeconds))

export const lifecycle = {
  timeout: z.nullish(timeout),
  /** what follows the timeout; absent: it is killed */
  autoPause: z.nullish(z.boolean()),
  autoResume: z.nullish(z.object({ enabled: z.nullish(z.boolean()) })),
}

export type Lifecycle = z.infer<z.ZodMiniObject<typeof lifecycle>>

/** As the clients of E2B expect if they name none. */
const defaultSeconds = 300
/** Policies are checked about once a second, so that nothing shorter can be kept. */
const leastMs = 1000

export interface SandboxPolicy {
  readonly ttlMs: number | null
  readonly ttlAction: IdleAction
  readonly wake: WakeMode
}

/** The timeout of a sandbox, as a policy of its environment. */
export function policyOf({ timeout, autoPause, autoResume }: Lifecycle): SandboxPolicy {
  return {
    ttlMs: ttlOf(timeout),
    // A paused sandbox of E2B takes no memory and outlives its host, as one that is released.
    ttlAction: autoPause ? 'release' : 'remove',
    wake: autoResume?.enabled ? 'always' : 'never',
  }
}

export function ttlOf(seconds: number | null | undefined): number {
  return Math.max(leastMs, Math.ceil((seconds ?? defaultSeconds) * 1000))
}

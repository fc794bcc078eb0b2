import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, selfIdentity } from '../../../linux/process-identity.ts'
import { ConflictError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import {
  type Claim,
  listClaims,
  readClaim,
  removeClaim,
  saveClaim,
  thisMachine,
} from './claim-file.ts'
import { newStagingName } from './staging.ts'
import type { Identity } from './target-directory.ts'

/** Longer than most applies take, shorter than a user's patience. */
const patienceMs = 30_000
const [shortestPauseMs, longestPauseMs] = [5, 50]

/** The exclusive right to change a directory on the caller's machine. */
export interface HeldClaim extends AsyncDisposable {
  readonly dir: string
  readonly claim: Claim
  /** claims of processes that died while working in the same directory */
  readonly abandoned: readonly Claim[]
  /** Gives the right up, but leaves a claim that says something is left to undo. */
  leaveUnfinished(): Promise<void>
}

/** Waits until nobody else is working in that directory. */
export async function acquireClaim(
  dir: string,
  target: Identity & { readonly path: string },
): Promise<HeldClaim> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const held = await tryClaim(dir, target)
    if (held.claim !== undefined) return held.claim
    if (performance.now() > deadline) throw busy(target.path, held.holder)
    // Uneven, so that waiting processes do not collide at every try.
    await sleep(pauseMs * (0.5 + Math.random()))
  }
}

type Tried = { readonly claim: HeldClaim } | { readonly claim?: undefined; readonly holder: Claim }

/**
 * Writes a claim first, then looks for another whose process is alive; if it finds one, removes its own.
 * If two processes do this at the same time, at least one sees the other: each writes before it looks.
 */
export async function tryClaim(
  dir: string,
  { path, device, inode }: Identity & { readonly path: string },
): Promise<Tried> {
  const id = randomBytes(16).toString('hex')
  const claim: Claim = {
    id,
    machine: thisMachine(),
    owner: selfIdentity(),
    target: path,
    device,
    inode,
    staging: newStagingName(),
  }
  await saveClaim(dir, claim)
  try {
    const others = await claimsOf(dir, claim)
    const holder = others.find((other) => !isAbandoned(other))
    if (holder === undefined) return { claim: held(dir, claim, others) }
    await removeClaim(dir, id)
    return { holder }
  } catch (error) {
    await removeClaim(dir, id)
    throw error
  }
}

function held(dir: string, claim: Claim, abandoned: readonly Claim[]): HeldClaim {
  let isUnfinished = false
  return {
    dir,
    claim,
    abandoned,
    leaveUnfinished: async () => {
      await saveClaim(dir, { ...claim, owner: null })
      isUnfinished = true
    },
    [Symbol.asyncDispose]: async () => {
      if (!isUnfinished) await removeClaim(dir, claim.id)
    },
  }
}

/** Whether its process is gone. */
export function isAbandoned({ machine, owner }: Claim): boolean {
  return machine === thisMachine() && (owner === null || !isAlive(owner))
}

/** The claims of others to the same directory. */
async function claimsOf(dir: string, { id, machine, device, inode }: Claim): Promise<Claim[]> {
  const found: Claim[] = []
  for (const other of await listClaims(dir)) {
    const claim = other === id ? null : await readClaim(dir, other).catch(unreadableClaim)
    if (claim === null || claim.machine !== machine) continue
    if (claim.device === device && claim.inode === inode) found.push(claim)
  }
  return found
}

/**
 * Ignores a claim that makes no sense: `recoverApplies` reports it. One that could not be opened may
 * belong to somebody, so that is an error.
 */
function unreadableClaim(error: Error): null {
  if (error.cause instanceof Error && 'syscall' in error.cause) throw error
  return null
}

function busy(target: string, { owner }: Claim): ConflictError {
  const message = `process ${owner?.pid} is still applying changes to ${quote(target)}`
  return new ConflictError(message, { remedy: 'wait until it is done, or end it' })
}

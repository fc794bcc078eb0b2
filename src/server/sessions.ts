import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Input } from '../api/contract/contract.ts'
import type { Control } from '../api/control.ts'
import { ForkpointHandle } from '../api/handles/forkpoint.ts'
import { InvalidInputError } from '../model/errors.ts'
import { notRunning } from '../model/not-running.ts'
import { quote } from '../model/text/quote.ts'
import { guarded } from './access/guarded.ts'
import type { Principal } from './access/principal.ts'
import type { Service } from './service.ts'
import type { Session } from './session.ts'

/** What each principal uses, made when it first comes. */
export interface Sessions extends AsyncDisposable {
  of(principal: Principal): Pick<Session, 'control' | 'forkpoint'>
  /** handles that reach everything, and wake nothing */
  readonly watching: ForkpointHandle
  /** handles that reach everything, for what the configuration grants to everybody */
  onBehalfOf(principal: Principal): ForkpointHandle
  /** the requests with a key that are under way */
  readonly underWay: Map<string, AbortController>
}

/** More principals than this are not active at once; an older one gets its handles again. */
const mostPrincipals = 256

export function sessions(service: Pick<Service, 'control' | 'watch'>, stateDir: string): Sessions {
  const { control } = service
  const known = new Map<string, Pick<Session, 'control' | 'forkpoint'>>()
  const watching = new ForkpointHandle(watched(service), { stateDir })
  return {
    underWay: new Map(),
    watching,
    of: (principal) => {
      const key = JSON.stringify(principal)
      const found = known.get(key)
      if (found !== undefined) return found
      const own = guarded(control, principal)
      const made = { control: own, forkpoint: new ForkpointHandle(own, { stateDir }) }
      known.set(key, made)
      if (known.size > mostPrincipals) dropOldest(known)
      return made
    },
    onBehalfOf: ({ id }) => new ForkpointHandle(attributed(control, id), { stateDir }),
    [Symbol.asyncDispose]: async () => {
      const all = [watching, ...[...known.values()].map(({ forkpoint }) => forkpoint)]
      await Promise.all(all.map((forkpoint) => forkpoint.close()))
    },
  }
}

/** The same control, whose operations belong to a principal. */
function attributed(control: Control, principal: string): Control {
  return {
    ...control,
    call: (name, input, options) => control.call(name, input, { ...options, principal }),
    // The control is everybody's.
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The same control for whoever only looks. All of them share one connection to an environment. */
function watched({ control, watch }: Pick<Service, 'control' | 'watch'>): Control {
  return {
    ...control,
    call: async (name, input, options) => {
      if (name !== 'environment.wake') return await control.call(name, input, options)
      const { id } = input as Input<'environment.wake'>
      throw notRunning(await control.call('environment.get', { reference: id }))
    },
    connect: (id) => watch(id),
    // The control is everybody's.
    [Symbol.asyncDispose]: async () => {},
  }
}

function dropOldest(known: Map<string, Pick<Session, 'control' | 'forkpoint'>>): void {
  const [oldest] = known
  if (oldest === undefined) return
  const [key, { forkpoint }] = oldest
  known.delete(key)
  // Whatever still uses its connections makes new ones.
  forkpoint.close().catch(() => {})
}

export function sessionOf(
  all: Sessions,
  principal: Principal,
  request: FastifyRequest,
  reply: FastifyReply,
): Session {
  const idempotencyKey = keyOf(principal, request.headers['idempotency-key'])
  const cancelled = new AbortController()
  if (idempotencyKey !== undefined) all.underWay.set(idempotencyKey, cancelled)
  reply.raw.once('close', () => {
    if (idempotencyKey === undefined) {
      if (!reply.raw.writableFinished) cancelled.abort()
    } else if (all.underWay.get(idempotencyKey) === cancelled) {
      all.underWay.delete(idempotencyKey)
    }
  })
  const { watching } = all
  return { principal, ...all.of(principal), watching, signal: cancelled.signal, idempotencyKey }
}

const longestKey = 255

/** Keys of different principals never meet. */
export function keyOf({ id }: Principal, given: unknown): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given !== '' && given.length <= longestKey)
    return `${id}:${given}`
  throw new InvalidInputError(`not an idempotency key: ${quote(given)}`, {
    remedy: `give text of up to ${longestKey} characters`,
  })
}

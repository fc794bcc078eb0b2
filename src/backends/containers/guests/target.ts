import * as z from 'zod/mini'
import {
  ConflictError,
  type ForkpointError,
  InvalidInputError,
  NotFoundError,
  UnsupportedError,
} from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { AttachTarget } from '../../facets.ts'
import { path } from '../engine/client.ts'
import { ifFound } from '../engine/failures.ts'
import type { Defaults } from '../instance.ts'
import { homeLabel } from '../names.ts'
import type { Room } from '../room.ts'

const inspected = z.object({
  Id: z.string(),
  Name: z.string(),
  State: z.object({ Status: z.string(), StartedAt: z.string() }),
  Config: z.object({
    User: z.nullish(z.string()),
    Env: z.nullish(z.array(z.string())),
    WorkingDir: z.nullish(z.string()),
    Labels: z.nullish(z.record(z.string(), z.string())),
  }),
  HostConfig: z.object({
    PidMode: z.nullish(z.string()),
    ReadonlyRootfs: z.nullish(z.boolean()),
  }),
  Mounts: z.nullish(z.array(z.object({ Destination: z.string() }))),
})

type Inspected = z.infer<typeof inspected>

/** A container that runs, and that this program did not make. */
export interface Host extends AttachTarget, Pick<Defaults, 'user' | 'env'> {
  readonly container: string
  readonly startedAt: string
}

// A name or an id, as engines accept it.
const shape = /^[a-z0-9][\w.-]{0,127}$/i

/** Finds a container by name or id. Refuses one that cannot have a guest. */
export async function findHost(room: Room, target: string): Promise<Host> {
  const { engine } = room.kind
  if (!shape.test(target)) {
    throw new InvalidInputError(`not the name of a container: ${quote(target)}`, {
      remedy: `give a name or an id that \`${engine} ps\` shows`,
    })
  }
  const found = await inspectHost(room, target)
  if (found === null) {
    throw new NotFoundError(`${engine} has no container ${quote(target)}`, {
      remedy: `check the name with \`${engine} ps\``,
    })
  }
  const refusal = refusalOf(room, target, found)
  if (refusal !== null) throw refusal
  return hostOf(room, found)
}

export function inspectHost(room: Room, container: string): Promise<Inspected | null> {
  const call = { method: 'GET', path: path`/containers/${container}/json` } as const
  return ifFound(() => room.client().json(inspected, call))
}

/** What a container is called while it runs; another start of it is another. */
export function keyOf(container: string, startedAt: string): string {
  return `${container}@${startedAt}`
}

function refusalOf({ kind }: Room, target: string, found: Inspected): ForkpointError | null {
  const { State, Config, HostConfig } = found
  const what = `the container ${quote(target)}`
  if (Config.Labels?.[homeLabel] !== undefined) {
    return new ConflictError(`${what} is an environment already: Forkpoint made it`, {
      remedy: 'use the environment; `forkpoint ls` lists them',
    })
  }
  if (State.Status !== 'running') {
    const verb = State.Status === 'paused' ? 'unpause' : 'start'
    return new ConflictError(`${what} is ${State.Status}, not running`, {
      remedy: `run \`${kind.engine} ${verb} ${target}\` first`,
    })
  }
  if (HostConfig.PidMode === 'host') {
    return new UnsupportedError('attach', `${what} has the pids of the host`, {
      remedy: 'start it without `--pid=host`: an agent there could not tell who may use it',
    })
  }
  if (HostConfig.ReadonlyRootfs === true) {
    return new UnsupportedError('attach', `${what} has a read-only root file system`, {
      remedy: 'start it without `--read-only`: an agent could not be brought there',
    })
  }
  return null
}

function hostOf({ log }: Room, found: Inspected): Host {
  const { Id, Name, State, Config, Mounts } = found
  const volumes = Mounts?.map(({ Destination }) => Destination) ?? []
  if (volumes.length > 0) log.warn({ volumes }, 'volumes of the container are in no snapshot')
  return {
    key: keyOf(Id, State.StartedAt),
    name: Name.replace(/^\//, ''),
    workdir: Config.WorkingDir || '/',
    container: Id,
    startedAt: State.StartedAt,
    user: Config.User ?? '',
    env: Config.Env ?? [],
  }
}

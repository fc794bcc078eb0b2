import type { Limits, NetSpec } from '../../../model/environment.ts'
import { InvalidInputError, UnsupportedError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Identity } from '../../backend.ts'
import { hasCheckpoints } from '../engine/engine-kind.ts'
import type { Defaults } from '../instance.ts'
import type { Room } from '../room.ts'
import { runBody } from '../run-arguments/run-options.ts'
import { runDirectory } from './run-directory.ts'

export const agentPath = `${runDirectory}/agent`
export const socketPath = `${runDirectory}/agent.sock`

export interface LifeSpec {
  readonly id: EnvironmentId
  readonly life: string
  /** id of the image */
  readonly image: string
  readonly identity: Identity
  readonly limits: Limits
  readonly net: NetSpec
  readonly defaults: Defaults
}

/** The body of the engine's create call. */
export function containerBody({ kind, names }: Room, spec: LifeSpec): object {
  const { id, life, image, identity, limits, net, defaults } = spec
  const run = runBody(defaults.run)
  return {
    Image: image,
    Hostname: identity.hostname,
    // The agent is root, and runs commands as the image's user.
    User: '0:0',
    Entrypoint: [agentPath],
    Cmd: servingArguments(socketPath, defaults),
    Labels: names.labels(id, life),
    // Podman asks systemd for a timer, even for this one.
    ...(kind.name === 'docker' && { Healthcheck: { Test: ['NONE'] } }),
    ...run.body,
    HostConfig: {
      NetworkMode: net.mode === 'none' ? 'none' : 'bridge',
      ...run.host,
      // A volume, so that no image holds what is in it. A checkpoint must hold the agent.
      Mounts: [
        ...(hasCheckpoints(kind) ? [] : [{ Type: 'volume', Target: runDirectory }]),
        ...defaults.run.mounts,
      ],
      LogConfig: { Type: 'none' },
      RestartPolicy: { Name: 'no' },
      ...limitsOf(limits),
    },
  }
}

/** How an agent is started that is a guest in a container of others. */
export function guestArguments(directory: string, defaults: Defaults): string[] {
  return servingArguments(guestSocket(directory), defaults)
}

export function guestSocket(directory: string): string {
  return `${directory}/agent.sock`
}

function servingArguments(socket: string, { user, env }: Defaults): string[] {
  return [
    ...['--socket', socket, '--relayed'],
    ...(user === '' ? [] : ['--user', user]),
    ...env.flatMap((variable) => ['--env', variable]),
  ]
}

function limitsOf({ memoryBytes, cpus, pids }: Limits): object {
  return {
    // The same for both together: none of it may be swap.
    ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    ...(pids !== undefined && { PidsLimit: pids }),
  }
}

/** Refuses what the engine would silently not do. */
export function requirePossible(
  { kind: { name } }: Room,
  { limits, net }: Pick<LifeSpec, 'limits' | 'net'>,
  { ports }: Defaults['run'],
): void {
  if (net.mode === 'none' && ports.length > 0) {
    throw new InvalidInputError('--publish: an environment without a network has no ports', {
      remedy: 'use the network mode nat, or leave out --publish',
    })
  }
  if (limits.diskBytes !== undefined) {
    throw new UnsupportedError('limits', `the ${name} backend cannot limit disk space`, {
      remedy: 'leave out the disk limit, or use the native backend',
    })
  }
  if (net.allow.length > 0 || net.denyOut !== undefined) {
    throw new UnsupportedError('nat', `the ${name} backend does not filter the network`, {
      remedy:
        'leave out the allowed and denied networks: everything that the engine reaches is reachable',
    })
  }
}

import type { Capability } from './capabilities.ts'
import { UnsupportedError } from './errors.ts'

/** The error for an operation that needs a capability the backend lacks. */
export function unsupported(backend: string, capability: Capability): UnsupportedError {
  return new UnsupportedError(capability, `the ${backend} backend cannot ${actions[capability]}`, {
    remedy: 'use a backend that can; `(await env.info()).capabilities` lists what each one can do',
    detail: { backend },
  })
}

/** The error for an operation that is not possible with what was attached. */
export function notForeign(backend: string, capability: Capability): UnsupportedError {
  const message = `the ${backend} backend cannot ${actions[capability]} if it was attached: Forkpoint did not start it`
  return new UnsupportedError(capability, message, {
    remedy: 'fork it, and do it with the fork',
    detail: { backend },
  })
}

/** What a backend without the capability cannot do; follows "cannot". */
const actions: Readonly<Record<Capability, string>> = {
  filesystem: 'capture files',
  processes: 'capture running processes',
  terminal: 'capture terminals',
  fork: 'make environments from a snapshot',
  pause: 'pause an environment',
  restore: 'take an environment back to a snapshot',
  diff: 'read files from outside, to compare, export or apply them',
  compact: 'compact snapshots',
  durable: 'promise that a snapshot survives a power cut',
  nat: 'give an environment a network',
  'net-switch': 'change the network of an environment that exists',
  connections: 'give the connections of an environment to a fork',
  limits: 'limit memory, cpu, processes or disk space',
  rates: 'limit the speed of disks or the network',
  identity: 'give an environment a hostname of its own',
  attach: 'adopt what it did not start',
  ports: 'reach ports inside',
  'memory-sharing': 'share memory between forks',
  'from-host': 'start from this machine (host)',
  'from-dir': 'start from a directory (dir:)',
  'from-rootfs': 'start from a root file system (rootfs:)',
  'from-image': 'start from a container image (image:)',
  'from-dockerfile': 'start from a Dockerfile (dockerfile:)',
  'from-oci': 'start from a directory with an OCI image (oci:)',
  'from-archive': 'start from an archive with an image (archive:)',
  'from-container': 'start from the files of a container (container:)',
}

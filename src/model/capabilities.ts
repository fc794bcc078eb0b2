import type { Source } from './source.ts'

/** Everything a backend may or may not be able to do; `doctor` and the conformance suite use it. */
export const allCapabilities = [
  /** files are captured and forked */
  'filesystem',
  /** running processes, with their memory, are captured and forked */
  'processes',
  /** terminals keep their screen and their foreground job in every fork */
  'terminal',
  /** new environments from a snapshot or a live environment */
  'fork',
  /** an environment can stop using CPU, and continue later */
  'pause',
  /** an environment can return to an earlier snapshot in place */
  'restore',
  /** files are compared, exported and applied from outside */
  'diff',
  /** everything that a snapshot is made of can become one layer */
  'compact',
  /** a snapshot can be made to survive a power cut */
  'durable',
  /** outgoing network through the host */
  'nat',
  /** the network of an environment can be changed while it runs */
  'net-switch',
  /** one fork can be given the connections of the original to the outside */
  'connections',
  /** memory, cpu, process and disk limits */
  'limits',
  /** limits on the speed of disks and the network */
  'rates',
  /** a hostname and a machine-id of its own */
  'identity',
  /** adopting a container or a process that Forkpoint did not start */
  'attach',
  /** reaching a port inside from the host */
  'ports',
  /** forks share unmodified memory */
  'memory-sharing',
  /** environments with the files of this machine */
  'from-host',
  /** environments with a directory of this machine as their workspace */
  'from-dir',
  /** environments from the directory of a root file system */
  'from-rootfs',
  /** environments from a container image */
  'from-image',
  /** environments built from a Dockerfile */
  'from-dockerfile',
  /** environments from a directory with an OCI image */
  'from-oci',
  /** environments from an archive with an image */
  'from-archive',
  /** environments with the files of a container */
  'from-container',
] as const

export type Capability = (typeof allCapabilities)[number]

export type Capabilities = ReadonlySet<Capability>

/** What a backend must be able to do to make an environment from this source. */
export function capabilityOf({ kind }: Pick<Source, 'kind'>): Capability {
  if (kind === 'snapshot') return 'fork'
  return kind === 'attached' ? 'attach' : `from-${kind}`
}

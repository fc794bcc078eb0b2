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
  /** an environment can stop using CPU, and later go on */
  'pause',
  /** an environment can become an earlier snapshot in place */
  'restore',
  /** outgoing network through the host */
  'nat',
  /** memory, cpu and process limits */
  'limits',
  /** adopting a container or a process that Forkpoint did not start */
  'attach',
  /** reaching a port inside from the host */
  'ports',
  /** forks share unmodified memory */
  'memory-sharing',
] as const

export type Capability = (typeof allCapabilities)[number]

export type Capabilities = ReadonlySet<Capability>

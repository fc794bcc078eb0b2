import type { SocketIdentity } from '../agent/socket.ts'
import type { Capabilities } from '../model/capabilities.ts'
import type { BackendName, EnvironmentRecord, Instance, Source } from '../model/environment.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { Settings } from '../model/settings.ts'

/** What an environment knows about itself. */
export interface Identity {
  readonly id: EnvironmentId
  readonly name: string | null
  readonly hostname: string
  readonly machineId: string
}

/** What a backend is given to make an environment from. */
export interface CreateSpec extends Pick<EnvironmentRecord, 'id' | 'source' | 'limits' | 'net'> {
  readonly identity: Identity
}

/** How the host reaches the agent of an instance. */
export interface AgentAddress {
  /** host path of the agent's socket */
  readonly path: string
  /** what the agent bound before other code ran inside; anything else there is refused */
  readonly identity: SocketIdentity
}

export type InstanceState = 'running' | 'paused' | 'dead'

export interface InstanceStats {
  readonly memoryBytes: number
  readonly memoryLimitBytes: number | null
  /** CPU time used since it was made */
  readonly cpuMs: number
  readonly processes: number
  readonly processLimit: number | null
  /** bytes of files changed since it was made */
  readonly diskBytes: number
}

/** One line of `doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** what was probed and found */
  readonly found: string
  readonly remedy?: string
}

/** What is needed of the rest of the program, so that a backend knows no other room. */
export interface BackendContext {
  readonly settings: Settings
  /** runs `work` while no other Forkpoint process does the same on this store */
  readonly exclusively: <T>(resource: string, what: string, work: () => Promise<T>) => Promise<T>
}

/** A mechanism that environments are made with. */
export interface Backend {
  readonly name: BackendName
  readonly capabilities: Capabilities
  /** refuses a source it cannot serve, before anything is made; says where shells start in it */
  validate(source: Source): Promise<{ workdir: string }>
  create(spec: CreateSpec): Promise<Instance>
  /** where the agent of this instance listens */
  address(id: EnvironmentId, instance: Instance): AgentAddress
  /** replaces what the environment reads of itself in /run/forkpoint/identity.json */
  identify(id: EnvironmentId, identity: Identity): Promise<void>
  isAlive(instance: Instance): boolean
  inspect(id: EnvironmentId, instance: Instance): Promise<InstanceState>
  pause(id: EnvironmentId): Promise<void>
  resume(id: EnvironmentId): Promise<void>
  stats(id: EnvironmentId): Promise<InstanceStats>
  /** removes all that is or may be there under this id, also what a killed `create` left */
  destroy(id: EnvironmentId): Promise<void>
  /** ids of which something is there, for finding what no record knows */
  remnants(): Promise<readonly EnvironmentId[]>
  /** gives back what is held for all environments together, once there is none */
  release(): Promise<void>
  check(): Promise<readonly Check[]>
}

import type { AdmissionSettings } from './admission.ts'
import type { Limits, MemoryMode, NetMode } from './environment.ts'
import type { LogLevel } from './log.ts'
import type { WakeMode } from './policy.ts'

/** The effective configuration; `src/config` makes it from flags, variables, files and defaults. */
export interface Settings {
  /** directory of the store */
  readonly home: string
  /** directory of the private tools (Node, CRIU, runsc) */
  readonly runtime: string
  /** limits of an environment that sets none */
  readonly limits: Limits
  readonly net: {
    readonly mode: NetMode
  }
  /** how environments get their memory, unless they set it themselves */
  readonly memory: MemoryMode
  /** whether using an environment that sleeps brings it back, unless it says so itself */
  /** what the templates of E2B clients stand for, by name */
  readonly e2b: { readonly templates: Readonly<Record<string, string>> }
  readonly wake: WakeMode
  readonly exec: {
    /** null: commands may run forever */
    readonly timeoutMs: number | null
  }
  readonly shell: {
    readonly program: string
    /** whether PATH inside is that of a login shell */
    readonly login: boolean
  }
  /** spares: branches that are prepared before anybody asks for them */
  readonly spares: {
    /** how many a process keeps; 0: none are made or used */
    readonly count: number
    /** private memory that all spares of a process may take together */
    readonly memoryBytes: number
  }
  /** what this machine may be asked for */
  readonly admission: AdmissionSettings
  /** how much is logged to stderr */
  readonly log: LogLevel
  readonly color: 'auto' | 'always' | 'never'
  readonly native: NativeSettings
  readonly docker: DockerSettings
  readonly podman: PodmanSettings
  readonly gvisor: GvisorSettings
}

/** What a backend over a container engine needs to know. */
export interface EngineSettings {
  /** path of the engine's socket; null: where its own client looks */
  readonly socket: string | null
}

export interface PodmanSettings extends EngineSettings {
  /** where archives of checkpoints are kept; null: in the home */
  readonly exportDir: string | null
}

export interface DockerSettings extends EngineSettings {
  /** whether snapshots of new environments hold processes, if the caller does not say */
  readonly processes: boolean
}

/** What only the gvisor backend needs to know. */
export interface GvisorSettings {
  /** path of the runsc to use; null: the private one */
  readonly runsc: string | null
  /** directory in which `attach` looks for containers of others; null: the usual ones */
  readonly root: string | null
}

/** Where new environments write: `auto` is btrfs where this machine has it. */
export const volumeKinds = ['auto', 'btrfs', 'ext4'] as const

export type VolumeKind = (typeof volumeKinds)[number]

/** How the next snapshot finds what was written: `auto` is the first of the others that is possible. */
export const trackingKinds = ['auto', 'written', 'remapped', 'full'] as const

export type TrackingKind = (typeof trackingKinds)[number]

/** Which program builds and gets container images: `auto` is the first of the others that is there. */
export const imageTools = ['auto', 'buildah', 'podman', 'docker', 'skopeo'] as const

export type ImageTool = (typeof imageTools)[number]

/**
 * What the native backend needs to know, and the mask of every backend that starts from the host's files.
 * Config files name these without a section.
 */
export interface NativeSettings {
  readonly net: {
    /** IPv4 network that environments get their addresses from */
    readonly pool: string
  }
  /** absolute path patterns hidden in host and dir environments; `*` stays within one component */
  readonly mask: readonly string[]
  readonly volume: {
    readonly kind: VolumeKind
    /** size the volume file may grow to */
    readonly sizeBytes: number
  }
  /** how the processes of environments are dumped after their first snapshot */
  readonly tracking: TrackingKind
  readonly ids: {
    /** the host uid and gid that root inside is mapped to */
    readonly base: number
    /** how many ids are mapped */
    readonly count: number
  }
  /** deny setuid programs such as sudo inside */
  readonly noNewPrivs: boolean
  readonly images: {
    readonly tool: ImageTool
  }
  /** path of the CRIU to use; null: the private one */
  readonly criu: string | null
}

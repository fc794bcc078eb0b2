import type { Limits, MemoryMode, NetMode } from './environment.ts'

/** The effective configuration; `src/config` makes it from flags, variables, files and defaults. */
export interface Settings {
  /** directory of the store */
  readonly home: string
  /** directory of the private tools (Node, CRIU, agent) */
  readonly runtime: string
  /** limits of an environment that asks for none */
  readonly limits: Limits
  readonly net: {
    readonly mode: NetMode
    /** IPv4 network that environments get their addresses from */
    readonly pool: string
  }
  /** how environments that say nothing of it come by their memory */
  readonly memory: MemoryMode
  /** absolute path patterns hidden in host and dir environments; `*` stays within one component */
  readonly mask: readonly string[]
  readonly volume: {
    /** size the volume file may grow to */
    readonly sizeBytes: number
  }
  readonly ids: {
    /** the host uid and gid that root inside is mapped to */
    readonly base: number
    /** how many ids are mapped */
    readonly count: number
  }
  readonly exec: {
    /** null: commands may run for ever */
    readonly timeoutMs: number | null
  }
  readonly shell: {
    readonly program: string
  }
  /** branches that are prepared before anybody asks for them */
  readonly spares: {
    /** how many a process keeps; 0: none are made or used */
    readonly count: number
    /** private memory that those of a process may take together */
    readonly memoryBytes: number
  }
  /** deny setuid programs such as sudo inside */
  readonly noNewPrivs: boolean
  /** path of the CRIU to use; null: the one that the probe finds */
  readonly criu: string | null
  readonly color: 'auto' | 'always' | 'never'
}

import type { By } from '../results.ts'

/** What a peer runs: a command line that prints "ready" when it is ready. */
export interface PeerProgram {
  /** a few letters and digits, for file names: podman takes paths of 50 characters at most */
  readonly slug: string
  /** all files that it writes begin with this path */
  readonly command: (place: string) => string
}

/** Where peers work. */
export interface PeerStage {
  /** a directory that the caller removes */
  readonly dir: string
  /** a root file system with everything the programs need; shared by the peers */
  readonly rootfs: string
  /** the CRIU that Forkpoint itself uses */
  readonly criu: string
  /** the same, but without probing the kernel on every call */
  readonly quickCriu: string
}

/** Another way to keep the state of a workload and to return to it. */
export interface Peer extends AsyncDisposable {
  readonly by: By
  /** keeps the state once, returns to it, and notes how long each took */
  round(note: (what: PeerStep, ms: number) => void): Promise<void>
}

export type PeerStep = 'snapshot' | 'restore'

export interface PeerKind {
  readonly by: By
  readonly title: string
  /** why it cannot be compared with; null if it can */
  whyNot(): Promise<string | null>
  start(stage: PeerStage, program: PeerProgram): Promise<Peer>
}

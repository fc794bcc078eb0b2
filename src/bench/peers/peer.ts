import type { By } from '../results.ts'

/** What a peer runs: a command line that prints "ready" when it is. */
export interface PeerProgram {
  /** of few letters and digits, to name files by: podman takes paths of 50 characters at most */
  readonly slug: string
  /** what it writes itself begins with this path */
  readonly command: (place: string) => string
}

/** Where peers work. */
export interface PeerStage {
  /** a directory that the caller removes */
  readonly dir: string
  /** a root file system with all that the programs need; shared by the peers */
  readonly rootfs: string
  /** the CRIU that Forkpoint itself uses */
  readonly criu: string
  /** the same, which need not probe the kernel on every call */
  readonly quickCriu: string
}

/** Another way to keep the state of a workload and to return to it. */
export interface Peer extends AsyncDisposable {
  readonly by: By
  /** keeps the state once and goes back to it, and notes what each took */
  round(note: (what: PeerStep, ms: number) => void): Promise<void>
}

export type PeerStep = 'snapshot' | 'restore'

export interface PeerKind {
  readonly by: By
  readonly title: string
  /** why there is none to compare with; null if there is */
  whyNot(): Promise<string | null>
  start(stage: PeerStage, program: PeerProgram): Promise<Peer>
}

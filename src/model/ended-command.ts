/** A command that has ended inside, though nobody may have its output any more. */
export interface EndedCommand {
  readonly id: string
  /** `detached`: in a copy of the shell */
  readonly mode: 'shell' | 'process' | 'detached'
  readonly shell: string | null
  /** the beginning of its command line */
  readonly command: string
  /** milliseconds since 1970; when it ended if it never began */
  readonly startedAt: number
  readonly endedAt: number
  readonly durationMs: number
  readonly exit: { readonly exitCode: number | null; readonly signal: string | null }
}

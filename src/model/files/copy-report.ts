/** The result of copying files to the caller's machine. */
export interface CopyReport {
  readonly entries: number
  /** of all files together, holes included */
  readonly bytes: number
  /** paths inside of the first devices, sockets and pipes, which mean nothing outside */
  readonly leftOut: readonly string[]
}

/** How far such a copy is. */
export interface CopyProgress {
  readonly entries: number
  /** bytes that were sent; holes do not count */
  readonly bytes: number
}

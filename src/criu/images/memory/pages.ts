export const pageSize = 4096

/** The images of a process's memory. */
export interface MemoryImages {
  /** mm-PID.img */
  readonly mm: Buffer
  /** pagemap-PID.img */
  readonly pagemap: Buffer
}

/** Bytes of a file. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/** Addresses of a process. */
export interface Addresses {
  readonly start: number
  readonly end: number
}

/** Addresses of a process whose content is in one piece in its pages file. */
export interface Stretch extends Addresses {
  /** in the pages file */
  readonly offset: number
}

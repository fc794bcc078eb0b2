/**
 * Memory that the code of a file may free or let grow, and then expect zeros in. Everything else that a
 * process has can be shared, however the file behaves.
 * - `mappings`: what somebody has mapped (`mmap`). Never the heap (`brk`), which no mapping is part of.
 * - `held`: mappings that an object holds. It has their address and length side by side, after the pointer
 *   to its type, as an object of CPython's module `mmap` does.
 * - `cpp-heap`: pages of V8's heap for C++ objects.
 */
export const reaches = ['mappings', 'held', 'cpp-heap'] as const

export type Reach = (typeof reaches)[number]

/** What a process may free and expect zeros in, and because of which file. */
export interface Reached {
  readonly reach: Reach
  readonly why: string
}

export function isReach(word: string | undefined): word is Reach {
  return reaches.some((reach) => reach === word)
}

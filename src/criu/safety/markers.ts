/**
 * Strings in allocators that assume that a page they freed is zero, and in some that nobody has
 * examined. mimalloc is not among them: it makes no such assumption.
 */
export const allocatorMarkers: Readonly<Record<string, string>> = {
  jemalloc: 'jemalloc',
  partition_alloc: 'PartitionAlloc',
  libpas: 'libpas',
  TCMALLOC_: 'tcmalloc',
  snmalloc: 'snmalloc',
  rpmalloc: 'rpmalloc',
  'Scudo ERROR': 'Scudo',
  SBCL_HOME: 'SBCL',
}

/** Functions with which a Go program itself frees memory or lets it grow. */
export const goCalls: Readonly<Record<string, string>> = {
  'syscall.Madvise': 'calls madvise',
  'unix.Madvise': 'calls madvise',
  'unix.Mremap': 'calls mremap',
}

/** A message of the C half of Go's runtime, which is only present if C is linked in. */
export const goWithC = 'runtime/cgo: out of memory in thread_start'

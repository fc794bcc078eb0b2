/**
 * Strings of allocators that take a page they gave back for one of zeros, and of such that were
 * not examined. mimalloc is not among them: it takes no page that it gave back for zeros.
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

/** Functions with which a Go program itself gives memory back, or lets it grow. */
export const goCalls: Readonly<Record<string, string>> = {
  'syscall.Madvise': 'calls madvise',
  'unix.Madvise': 'calls madvise',
  'unix.Mremap': 'calls mremap',
}

/** Said by the C half of Go's runtime, which is there only where C is linked in. */
export const goWithC = 'runtime/cgo: out of memory in thread_start'

import type { Reach } from './reach.ts'

/** A file that frees memory or lets it grow, and is known where it counts on zeros; mostly nowhere. */
export interface KnownSafe {
  readonly what: string
  readonly name: RegExp
  /** its read-only data has at least one of these strings; a name alone proves little */
  readonly marks: readonly string[]
  /** where it does; absent: nowhere */
  readonly reach?: {
    readonly what: Reach
    /** only a file with one of these strings does; absent: every file */
    readonly marks?: readonly string[]
  }
}

/** An error of CPython's module `mmap`, which may be a file of its own or part of the interpreter. */
const mmapModule = ['mmap closed or invalid']

/**
 * Why each is here. "Ran" means that it ran with test/support/workloads/self-checking/stale-memory.c,
 * which fills memory with garbage wherever the kernel would have returned zeros.
 * - glibc, musl, HotSpot with five collectors, CPython 3.11 and 3.13, and node 20 and 24: ran.
 * - The mimalloc in CPython since 3.13: according to its source, it never assumes that a page it freed
 *   is zero.
 * - V8's JavaScript heap discards pages as a hint, according to its interface: they may read as anything.
 *   But its heap for C++ objects does expect zeros in pages it freed, according to its source, and node 24
 *   frees some.
 * - CPython's module `mmap` calls madvise and mremap on what its objects map, when the program asks for it.
 * - OpenSSL and libsodium only ask to be left out of core dumps, and NumPy for huge pages, according to
 *   their code.
 * - PCRE2 frees a stack, and SQLite grows shared file mappings, according to their source.
 * - Java's NIO advises WILLNEED and DONTNEED, according to its code; the latter for `unload()` of mapped
 *   files. Every JVM loads it, so without this entry none could share.
 * - libwayland-server lets shared mappings of files grow; libapt-pkg, libelf and libnuma let mappings grow
 *   that they have made. According to their source.
 */
const knownSafe: readonly KnownSafe[] = [
  { what: 'GNU C library', name: /^libc(\.so\.6|-2\.\d+\.so)$/, marks: ['GNU C Library'] },
  {
    what: 'GNU loader',
    name: /^(ld-linux[\w-]*\.so\.\d|ld-2\.\d+\.so)$/,
    marks: ['Inconsistency detected by ld.so'],
  },
  {
    what: 'GNU thread library',
    name: /^libpthread(\.so\.0|-2\.\d+\.so)$/,
    marks: ['GLIBC_PRIVATE'],
  },
  { what: 'musl', name: /^(ld-musl-\w+\.so\.1|libc\.musl-\w+\.so\.1)$/, marks: ['musl libc'] },
  {
    what: 'CPython',
    name: /^(python\d(\.\d+)?[dmt]*|libpython\d\.\d+[dmt]*\.so[\d.]*)$/,
    marks: ['PYTHONHOME'],
    reach: { what: 'held', marks: mmapModule },
  },
  {
    what: "CPython's mmap",
    name: /^mmap\.cpython-[\w-]+\.so$/,
    marks: mmapModule,
    reach: { what: 'held' },
  },
  {
    what: 'Node.js',
    name: /^(node|nodejs|libnode\.so[\d.]*)$/,
    marks: ['Node.js'],
    reach: { what: 'cpp-heap' },
  },
  { what: 'HotSpot', name: /^libjvm\.so$/, marks: ['HotSpot'] },
  { what: 'Java NIO', name: /^libnio\.so$/, marks: ['Java_sun_nio_ch_'] },
  {
    what: 'OpenSSL',
    name: /^libcrypto\.so\.(1\.1|3)$/,
    marks: ['OpenSSL 1.1.', 'OpenSSL 3.'],
  },
  { what: 'libsodium', name: /^libsodium\.so[\d.]*$/, marks: ['sodium_mlock'] },
  { what: 'PCRE2', name: /^libpcre2-\d+\.so[\d.]*$/, marks: ['pcre2_jit_compile'] },
  { what: 'SQLite', name: /^libsqlite3\.so[\d.]*$/, marks: ['SQLite format 3'] },
  { what: 'Wayland', name: /^libwayland-server\.so[\d.]*$/, marks: ['wl_shm_pool'] },
  {
    what: 'libapt-pkg',
    name: /^libapt-pkg\.so[\d.]*$/,
    marks: ['APT::Cache-Start'],
    reach: { what: 'mappings' },
  },
  {
    what: 'libelf',
    name: /^libelf(-[\d.]+)?\.so[\d.]*$/,
    marks: ['elf_update', 'gelf_getehdr'],
    reach: { what: 'mappings' },
  },
  {
    what: 'libnuma',
    name: /^libnuma\.so[\d.]*$/,
    marks: ['numa_alloc_onnode'],
    reach: { what: 'mappings' },
  },
  { what: 'NumPy', name: /^_multiarray_umath\.[\w-]+\.so$/, marks: ['numpy'] },
]

export function knownAs(name: string): KnownSafe | null {
  return knownSafe.find((known) => known.name.test(name)) ?? null
}

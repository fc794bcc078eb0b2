/** A file that gives memory back or lets it grow, and is known not to count on zeros then. */
export interface KnownSafe {
  readonly what: string
  readonly name: RegExp
  /** strings of which its read-only data has at least one; a name alone says little */
  readonly marks: readonly string[]
}

/**
 * Why each is here. "Ran" means under test/support/workloads/self-checking/stale-memory.c, which
 * fills memory with rubbish wherever the kernel would have given zeros.
 * - glibc, musl, HotSpot with five collectors, CPython 3.11 and 3.13, and node 20 and 24: ran.
 * - The mimalloc in CPython since 3.13, in its source, takes no page that it gave back for zeros.
 * - V8's heap for C++ objects does want zeros of what it gave back, says its source, and node 24
 *   gives some back. Ran with many such objects, and nothing came of it: seen, not proven.
 * - OpenSSL and libsodium, in their code, only ask to be left out of core dumps; NumPy, in its
 *   source, for huge pages.
 * - PCRE2 gives back a stack, SQLite lets shared mappings of files grow: both in their source.
 * - Java's NIO, in its code, advises WILLNEED and DONTNEED; the latter is for `unload()` of mapped
 *   files. Every JVM loads it, so without it none could share.
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
  { what: 'CPython', name: /^python\d(\.\d+)?[dmt]*$/, marks: ['PYTHONHOME'] },
  { what: 'CPython', name: /^libpython\d\.\d+[dmt]*\.so[\d.]*$/, marks: ['PYTHONHOME'] },
  { what: 'Node.js', name: /^(node|nodejs|libnode\.so[\d.]*)$/, marks: ['Node.js'] },
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
  { what: 'NumPy', name: /^_multiarray_umath\.[\w-]+\.so$/, marks: ['numpy'] },
]

export function knownAs(name: string): KnownSafe | null {
  return knownSafe.find((known) => known.name.test(name)) ?? null
}

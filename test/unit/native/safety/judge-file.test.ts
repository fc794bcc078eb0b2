import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileC, hotspotPath, libraryPath, programPath } from '../../../support/real-programs.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'
import { judgeAt, judgeBytes } from './read-host-file.ts'

const safe = {
  bash: [() => programPath('bash'), 'never calls madvise'],
  tmux: [() => programPath('tmux'), 'never calls madvise'],
  python: [() => programPath('python3'), 'CPython'],
  go: [() => programPath('go'), 'Go'],
  hotspot: [hotspotPath, 'HotSpot'],
  libc: [() => libraryPath('libc.so.6'), 'GNU C library'],
  loader: [() => libraryPath('ld-linux-x86-64.so.2'), 'GNU loader'],
  openssl: [() => libraryPath('libcrypto.so.3'), 'OpenSSL'],
  // Which import nothing from the C library, or nothing at all.
  'a module of Python': [() => pythonModule('_json'), 'never calls madvise'],
} as const

test.each(Object.entries(safe))('%s is safe', async (_, [pathOf, why]) => {
  expect(await judgeAt(pathOf())).toEqual({ safe: true, why })
})

const partlySafe = {
  node: [() => programPath('node'), 'Node.js', 'cpp-heap'],
  'the node that runs this': [() => process.execPath, 'Node.js', 'cpp-heap'],
  "Python's mmap": [() => pythonModule('mmap'), "CPython's mmap", 'held'],
  libnuma: [() => libraryPath('libnuma.so.1'), 'libnuma', 'mappings'],
  libelf: [() => libraryPath('libelf.so.1'), 'libelf', 'mappings'],
  'libapt-pkg': [() => libraryPath('libapt-pkg.so.6.0'), 'libapt-pkg', 'mappings'],
} as const

test.each(Object.entries(partlySafe))('%s is safe in part', async (_, [pathOf, why, reach]) => {
  expect(await judgeAt(pathOf())).toEqual({ safe: true, why, reach })
})

test('a Python with mmap built in may free what that maps', async () => {
  using directory = new TemporaryDirectory()
  const program = directory.file('python3.11')
  const text =
    'const char a[] = "PYTHONHOME", b[] = "mmap closed or invalid"; int main(){return a[1]+b[1];}'
  compileC(text, program)
  expect(await judgeAt(program)).toEqual({ safe: true, why: 'CPython', reach: 'held' })
})

const unsafe = {
  redis: [() => programPath('redis-server'), 'imports madvise'],
  jemalloc: [() => libraryPath('libjemalloc.so.2'), 'imports madvise'],
  chromium: [() => '/usr/lib/chromium/chromium', 'imports madvise'],
  'the agent': [() => 'native/build/agent', 'statically linked and not Go'],
  'a script': [() => programPath('ldd'), 'not an ELF file'],
} as const

test.each(Object.entries(unsafe))('%s is not', async (_, [pathOf, why]) => {
  expect(await judgeAt(pathOf())).toEqual({ safe: false, why })
})

test('no name makes jemalloc safe, nor Chromium', async () => {
  const jemalloc = await judgeAt(libraryPath('libjemalloc.so.2'), 'libc.so.6')
  expect(jemalloc).toEqual({ safe: false, why: 'jemalloc marker' })
  const chromium = await judgeAt('/usr/lib/chromium/chromium', 'node')
  expect(chromium).toEqual({ safe: false, why: 'PartitionAlloc marker' })
})

test('a known name with other content is judged like any other file', async () => {
  expect(await judgeAt(programPath('bash'), 'node')).toEqual({
    safe: true,
    why: 'never calls madvise',
  })
  expect(await judgeAt(pythonModule('mmap'), 'node')).toEqual({
    safe: false,
    why: 'imports madvise',
  })
})

const programs = {
  'calls nothing': ['int main(){return 0;}', [], 'never calls madvise'],
  'is static': ['int main(){return 0;}', ['-static'], 'statically linked and not Go'],
  'is static and relocatable': [
    'int main(){return 0;}',
    ['-static-pie'],
    'statically linked and not Go',
  ],
  'calls madvise': ['int main(){return madvise(0,0,4);}', [], 'imports madvise'],
  'calls mremap': ['int main(){return !mremap(0,0,0,0);}', [], 'imports mremap'],
  'calls madvise by itself': [
    'int main(){long r;__asm__ volatile("movl $28,%%eax;syscall":"=a"(r)::"rcx","r11");return r;}',
    [],
    'calls madvise without the C library',
  ],
  'has a madvise of its own': [
    'int madvise(void*a,long b,int c){return 0;} int main(){return 0;}',
    ['-rdynamic'],
    'has a madvise of its own',
  ],
  'is linked with an allocator': [
    'const char*v="<jemalloc>: Error";int main(){return v[0];}',
    [],
    'jemalloc marker',
  ],
} as const

test.each(Object.entries(programs))('a program that %s', async (_, [source, options, why]) => {
  using directory = new TemporaryDirectory()
  const program = directory.file('program')
  compileC(source, program, ...options)
  expect((await judgeAt(program)).why).toBe(why)
})

test('Go with C in it is as safe as the C is known to be', async () => {
  using directory = new TemporaryDirectory()
  const source = directory.file('program.go')
  writeFileSync(
    source,
    'package main\n// #include <stdlib.h>\nimport "C"\nfunc main() { C.free(C.malloc(9)) }\n',
  )
  const env = { ...process.env, HOME: directory.path, GOCACHE: directory.file('cache') }
  const build = (name: string, ...options: string[]) => {
    const words = ['build', ...options, '-o', directory.file(name), source]
    execFileSync(programPath('go'), words, { env, stdio: 'pipe' })
    return judgeAt(directory.file(name))
  }
  expect(await build('dynamic')).toEqual({ safe: true, why: 'Go' })
  expect(await build('static', '-ldflags', '-extldflags -static')).toEqual({
    safe: false,
    why: 'Go with C linked statically',
  })
})

test('a damaged file is judged, whatever is wrong with it', async () => {
  const whole = readFileSync(pythonModule('_json'))
  const damage = fc.record({
    length: fc.oneof(fc.constant(whole.length), fc.nat(whole.length)),
    // Most of what can be lied about is at either end: the header, and the table of sections.
    changes: fc.array(
      fc.tuple(
        fc.oneof(
          fc.nat(1200),
          fc.nat(whole.length),
          fc.nat(2000).map((n) => -n),
        ),
        fc.nat(255),
      ),
      { maxLength: 12 },
    ),
  })
  await fc.assert(
    fc.asyncProperty(damage, async ({ length, changes }) => {
      const bytes = Buffer.from(whole.subarray(0, length))
      for (const [at, value] of changes) {
        if (bytes.length > 0) bytes[(at + 2 * bytes.length) % bytes.length] = value
      }
      const verdict = await judgeBytes('_json.so', bytes)
      expect(verdict.why).not.toBe('')
      if (length < 64) expect(verdict.safe).toBe(false)
    }),
    { numRuns: 2000 },
  )
})

test('false sizes cost neither time nor memory', async () => {
  const bytes = Buffer.from(readFileSync(programPath('bash')))
  for (const at of [32, 40]) {
    const lying = Buffer.from(bytes)
    lying.writeBigUInt64LE(2n ** 63n, at)
    expect((await judgeBytes('bash', lying)).safe).toBe(false)
  }
  const crowded = Buffer.from(bytes)
  crowded.writeUInt16LE(0xffff, 60)
  expect((await judgeBytes('bash', crowded)).safe).toBe(false)
})

function pythonModule(name: string): string {
  const code = `import ${name}; print(${name}.__file__)`
  return execFileSync(programPath('python3'), ['-c', code], { encoding: 'utf8' }).trim()
}

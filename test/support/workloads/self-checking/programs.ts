import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { chromiumFlags } from '../../../../src/bench/workloads/chromium-flags.ts'
import type { Environment } from '../../../../src/index.ts'
import { compileC, programPath } from '../../real-programs.ts'
import { TemporaryDirectory } from '../../temporary-directory.ts'
import { evaluate, pages } from '../devtools.ts'
import { run, runUntilDone } from '../run.ts'

/** A program that constantly allocates, frees and checks its data, and reports the result. */
export interface SelfChecking {
  readonly name: string
  /** what its processes are called */
  readonly process: RegExp
  /** why its memory is copied; null if branches share it */
  readonly copiedFor: RegExp | null
  start(env: Environment): Promise<void>
  /** "rounds N", or "stale ..." */
  report(env: Environment): Promise<string>
}

const reportPath = '/root/report'
const readReport = (env: Environment) => run(env, `cat ${reportPath} || true`)

/** Starts a command line, with the path to report to. */
function command(
  line: string,
  bring: (env: Environment) => Promise<void>,
): Pick<SelfChecking, 'start' | 'report'> {
  return {
    report: readReport,
    start: async (env) => {
      await bring(env)
      await run(env, `${line} ${reportPath} > /root/log 2>&1 &`)
    },
  }
}

export function sourcePath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Puts sources of this directory under /root. */
function sources(...names: string[]): (env: Environment) => Promise<void> {
  return async (env) => {
    for (const name of names) await env.files.write(`/root/${name}`, readFileSync(sourcePath(name)))
  }
}

/** Builds a program on the host and copies it in. */
function built(build: (program: string) => void): (env: Environment) => Promise<void> {
  return async (env) => {
    using directory = new TemporaryDirectory()
    const program = directory.file('program')
    build(program)
    await env.files.write('/root/program', readFileSync(program))
    await run(env, 'chmod +x /root/program')
  }
}

const dontneed = (...options: string[]) =>
  built((program) => compileC(readFileSync(sourcePath('dontneed.c'), 'utf8'), program, ...options))

export function buildGo(program: string): void {
  const words = ['build', '-o', program, sourcePath('go-program.go')]
  const env = { ...process.env, GOCACHE: `${program}.cache`, HOME: '/nonexistent' }
  execFileSync(programPath('go'), words, { env, stdio: 'pipe' })
}

export function buildJava(directory: string): void {
  execFileSync(programPath('javac'), ['-d', directory, sourcePath('JavaProgram.java')])
}

const java = async (env: Environment) => {
  using directory = new TemporaryDirectory()
  buildJava(directory.path)
  await env.files.upload(directory.path, '/root/classes')
}

const redis: Pick<SelfChecking, 'start' | 'report'> = {
  report: readReport,
  start: async (env) => {
    await sources('redis-program.sh', 'redis-program.lua')(env)
    await run(env, 'redis-server --port 0 --unixsocket /root/socket --save "" > /root/log &')
    await runUntilDone(env, 'redis-cli -s /root/socket PING')
    await run(env, `bash /root/redis-program.sh /root/socket ${reportPath} > /dev/null 2>&1 &`)
  },
}

const debuggingPort = 9222
const flags = chromiumFlags(debuggingPort)

const chromium: Pick<SelfChecking, 'start' | 'report'> = {
  report: (env) => evaluate(env, debuggingPort, 'report'),
  start: async (env) => {
    await sources('chromium-page.html')(env)
    const page = 'file:///root/chromium-page.html'
    await run(env, `chromium ${flags.join(' ')} ${page} > /root/log 2>&1 &`)
    await expect.poll(() => pages(env, debuggingPort), { timeout: 60_000 }).toHaveLength(1)
  },
}

export const selfChecking: readonly SelfChecking[] = [
  {
    name: 'a program that counts on MADV_DONTNEED',
    process: /program/,
    copiedFor: /program: imports madvise/,
    ...command('/root/program', dontneed()),
  },
  {
    name: 'a static program that counts on MADV_DONTNEED',
    process: /program/,
    copiedFor: /program: statically linked/,
    ...command('/root/program', dontneed('-static')),
  },
  {
    name: 'Redis with jemalloc',
    process: /redis-server/,
    copiedFor: /madvise|jemalloc/,
    ...redis,
  },
  {
    name: 'Chromium',
    process: /chromium/,
    copiedFor: /chromium: /,
    ...chromium,
  },
  {
    name: 'CPython',
    process: /python/,
    copiedFor: null,
    ...command('/usr/bin/python3 /root/python-program.py', sources('python-program.py')),
  },
  {
    name: 'node',
    process: /node/,
    copiedFor: null,
    ...command('/usr/bin/node --expose-gc /root/node-program.cjs', sources('node-program.cjs')),
  },
  {
    name: 'Go',
    process: /program/,
    copiedFor: null,
    ...command('/root/program', built(buildGo)),
  },
  {
    name: 'a JVM',
    process: /java/,
    copiedFor: null,
    ...command('java -Xmx96m -cp /root/classes JavaProgram', java),
  },
  {
    name: 'bash',
    process: /bash/,
    copiedFor: null,
    ...command('bash /root/bash-program.sh', sources('bash-program.sh')),
  },
]

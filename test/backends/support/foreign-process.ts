import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { treeOf } from '../../../src/linux/process-tree.ts'

/** Appends what it counts in memory: one number too many or too few shows that file and memory disagree. */
export const counter = `
import time
number = 0
while True:
    number += 1
    with open('numbers', 'a') as file: file.write(f'{number}\\n')
    time.sleep(0.002)
`

export interface Foreign extends Disposable {
  readonly pid: number
  readonly workdir: string
  readonly child: ChildProcess
}

export interface ForeignOptions {
  readonly uid?: number
  readonly program?: string
  readonly stdio?: 'ignore' | 'pipe'
}

/** A process that Forkpoint did not start, in a directory of its own. */
export function startForeign(workdir: string, options: ForeignOptions = {}): Foreign {
  const { uid = 0, program = counter, stdio = 'ignore' } = options
  mkdirSync(workdir)
  chownSync(workdir, uid, uid)
  const child = spawn('/usr/bin/python3', ['-c', program], {
    cwd: workdir,
    uid,
    gid: uid,
    stdio,
    // A session of its own: that of the tests may have begun outside this pid namespace.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('python3 did not start')
  const end = () => {
    for (const each of treeOf(pid).toReversed()) kill(each)
  }
  return { pid, workdir, child, [Symbol.dispose]: end }
}

/** What must be the same before and after, whatever was done with it. */
export function factsOf(pid: number): unknown {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')
  const status = new Map(
    read('status')
      .trim()
      .split('\n')
      .map((line) => line.split(/:\s*/) as [string, string]),
  )
  const kept = ['Uid', 'Gid', 'PPid', 'TracerPid', 'Threads', 'NSpid', 'NSsid', 'NSpgid']
  const signals = ['SigPnd', 'ShdPnd', 'SigBlk', 'SigIgn', 'SigCgt', 'NoNewPrivs', 'Seccomp']
  const limits = ['CapEff', 'CapBnd', 'Cpus_allowed', 'CoreDumping']
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => [
    fd,
    readlinkSync(join('/proc', String(pid), 'fd', fd)),
  ])
  return {
    status: [...kept, ...signals, ...limits].map((name) => [name, status.get(name)]),
    isStopped: /^[Tt]/.test(status.get('State') ?? ''),
    maps: read('maps'),
    limits: read('limits'),
    environ: read('environ'),
    cgroup: read('cgroup'),
    namespaces: readdirSync(`/proc/${pid}/ns`).map((name) =>
      readlinkSync(`/proc/${pid}/ns/${name}`),
    ),
    links: ['cwd', 'root', 'exe'].map((name) => readlinkSync(`/proc/${pid}/${name}`)),
    files,
    tree: treeOf(pid),
  }
}

export function numbersIn(text: string): number[] {
  return text.trim().split('\n').map(Number)
}

export function lastNumberOf({ workdir }: Foreign): number {
  try {
    return numbersIn(readFileSync(join(workdir, 'numbers'), 'utf8')).at(-1) ?? 0
  } catch {
    // It has not written one yet.
    return 0
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

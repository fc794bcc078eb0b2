import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackendName } from '../results.ts'
import { copyPython, python } from '../workloads/python.ts'
import { makeRootfs } from '../workloads/rootfs.ts'

const programs = ['bash', 'cat', 'mkfifo', 'rm', 'sleep', python]

/** The same programs for every backend, in the form that it starts from. */
export interface BackendSources {
  readonly of: (backend: BackendName) => string
}

/** Makes a small root file system, and a Dockerfile that needs no other image. */
export function makeBackendSources(dir: string): BackendSources {
  const rootfs = join(dir, 'rootfs')
  makeRootfs(rootfs, programs)
  copyPython(rootfs)
  for (const name of ['dev', 'proc', 'run', 'sys', 'work']) {
    mkdirSync(join(rootfs, name), { recursive: true })
  }
  writeFileSync(join(rootfs, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n')
  writeFileSync(join(rootfs, 'etc/group'), 'root:x:0:\n')
  const context = join(dir, 'context')
  const workspace = join(dir, 'workspace')
  for (const path of [context, workspace]) mkdirSync(path)
  execFileSync('tar', ['-C', rootfs, '-cf', join(context, 'rootfs.tar'), '.'])
  writeFileSync(join(context, 'Dockerfile'), 'FROM scratch\nADD rootfs.tar /\nWORKDIR /work\n')
  return { of: (backend) => sourceOf(backend, { rootfs, context, workspace }) }
}

type Places = Record<'rootfs' | 'context' | 'workspace', string>

function sourceOf(backend: BackendName, { rootfs, context, workspace }: Places): string {
  switch (backend) {
    case 'native':
    case 'gvisor':
      return `rootfs:${rootfs}`
    case 'criu':
      return `dir:${workspace}`
    case 'docker':
    case 'docker-processes':
    case 'podman':
    case 'podman-criu':
      return `dockerfile:${context}`
  }
}

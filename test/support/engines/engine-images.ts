import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, openClient } from '../../../src/backends/containers/engine/client.ts'
import type { EngineKind } from '../../../src/backends/containers/engine/engine-kind.ts'
import { makeRootfs } from '../../../src/bench/workloads/rootfs.ts'
import type { EngineProcess } from './engine-process.ts'

/** The distribution's own: another in the PATH may be a script. */
const python = '/usr/bin/python3'

const programs = [
  ...['bash', 'cat', 'chmod', 'cp', 'echo', 'env', 'head', 'id', 'ls', 'mkdir', 'mv', 'pwd'],
  ...['grep', 'hostname', 'rm', 'sleep', 'touch', 'tr', 'wc', python],
]

/** No registry is needed for a name like this. */
export const imageName = 'localhost/small:1'

/** Puts an image of a few programs of the host into an engine; it works in /work, and has a user `app`. */
export async function importImage(
  kind: EngineKind,
  { socket }: EngineProcess,
  directory: string,
): Promise<void> {
  const root = join(directory, 'image')
  makeImageFiles(root)
  const archive = execFileSync('tar', ['-C', root, '-cf', '-', '.'], { maxBuffer: 2 ** 30 })
  const client: Client = openClient(kind, { socketPath: socket })
  await client.text({
    method: 'POST',
    path: '/images/create',
    query: {
      fromSrc: '-',
      repo: imageName,
      changes: ['WORKDIR /work', 'ENV SHADE="dark green"'],
    },
    body: archive,
  })
}

function makeImageFiles(root: string): void {
  makeRootfs(root, programs)
  for (const dir of ['work', 'proc', 'sys', 'dev', 'run', 'home/app']) {
    mkdirSync(join(root, dir), { recursive: true })
  }
  const standardLibrary = execFileSync(python, ['-c', 'import os; print(os.__file__)'])
  const library = join(standardLibrary.toString().trim(), '..')
  const isWanted = (path: string) => !/(__pycache__|\/test|config-3)/.test(path)
  cpSync(library, join(root, library), { recursive: true, filter: isWanted })
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/bash\n',
  )
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\napp:x:1000:\n')
  writeFileSync(join(root, 'work/given.txt'), 'given\n')
}

/** A directory to build an image from, which has the files that it must have and none of the others. */
export function makeDockerfile(dir: string): void {
  mkdirSync(dir, { recursive: true })
  const lines = [
    `FROM ${imageName}`,
    'COPY . /built/',
    'RUN echo made > /built/made.txt',
    'RUN mkdir -p /home/app/src',
    'ENV SHADE=light',
    'USER app',
    'WORKDIR /home/app',
  ]
  writeFileSync(join(dir, 'Dockerfile'), `${lines.join('\n')}\n`)
  writeFileSync(join(dir, '.dockerignore'), 'secret*\n')
  writeFileSync(join(dir, 'secret.txt'), 'secret\n')
  writeFileSync(join(dir, 'copied.txt'), 'copied\n')
}

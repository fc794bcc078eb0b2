// Podman and buildah with a storage of their own, so that the tests never meet anybody else's images.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSmallRootfs } from '../small-rootfs.ts'
import { TemporaryDirectory } from '../temporary-directory.ts'

const packages = ['podman', 'buildah', 'skopeo', 'runc']

/** Installs what this machine lacks; apt-get says why if it cannot. */
function installPrograms(): void {
  const missing = packages.filter((program) => spawnSync(program, ['--version']).status !== 0)
  if (missing.length === 0) return
  const args = ['install', '-y', '-qq', '--no-install-recommends', ...missing]
  execFileSync('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** While it exists, podman, buildah and skopeo of this process and its children use this storage. */
export class ContainerStorage implements Disposable {
  readonly files = new TemporaryDirectory()
  readonly graphRoot: string

  constructor() {
    installPrograms()
    this.graphRoot = this.files.file('graph')
    const config = this.files.file('storage.conf')
    writeFileSync(
      config,
      `[storage]\ndriver = "overlay"\ngraphroot = "${this.graphRoot}"\nrunroot = "${this.files.file('run')}"\n`,
    )
    process.env.CONTAINERS_STORAGE_CONF = config
  }

  /** Runs a program to its end and returns what it printed. */
  run(program: string, ...args: readonly string[]): string {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** An image with a shell and a few programs, under this name. */
  makeBase(name: string): void {
    const root = this.files.file('base')
    mkdirSync(root)
    makeSmallRootfs(root)
    const container = this.run('buildah', 'from', 'scratch')
    this.run('buildah', 'copy', '--quiet', container, root, '/')
    this.run('buildah', 'commit', '--quiet', container, name)
    this.run('buildah', 'rm', container)
  }

  [Symbol.dispose](): void {
    spawnSync('podman', ['rm', '--all', '--force', '--time', '0'])
    spawnSync('buildah', ['rm', '--all'])
    delete process.env.CONTAINERS_STORAGE_CONF
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(join(this.files.path, '/')))
    for (const path of mounts.reverse()) execFileSync('umount', ['--lazy', path])
    this.files[Symbol.dispose]()
  }
}

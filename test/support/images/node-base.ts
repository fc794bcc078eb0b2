import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { whyNot } from '../probe.ts'
import type { ContainerStorage } from './container-storage.ts'

const run = promisify(execFile)
const release = 'bookworm'
const mirror = 'http://deb.debian.org/debian'
/** Certificates of this machine, which may trust a proxy. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** Why no image can be made of Debian's packages here; null if one can. */
export function whyNoDebian(): string | null {
  const index = `${mirror}/dists/${release}/InRelease`
  return (
    whyNot('debootstrap', '--version') ??
    whyNot('curl', '--fail', '--silent', '--show-error', '--head', '--max-time', '20', index)
  )
}

/**
 * An image that stands in for Node's own one where no registry can be reached: Debian with the private Node and
 * the npm of this machine. It knows how this machine reaches Debian and npm. Returns its root directory.
 */
export async function makeNodeBase(storage: ContainerStorage, name: string): Promise<string> {
  const root = storage.files.file('debian')
  const words = ['--variant=minbase', '--include=ca-certificates', release, root, mirror]
  await run('debootstrap', words)
  addNode(join(root, 'usr/local'))
  cpSync('/etc/apt/apt.conf.d', join(root, 'etc/apt/apt.conf.d'), { recursive: true })
  cpSync(certificates, join(root, certificates))
  const { stdout } = await run('buildah', ['from', 'scratch'])
  const container = stdout.trim()
  await run('buildah', ['copy', '--quiet', container, root, '/'])
  await run('buildah', ['config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container])
  await run('buildah', ['commit', '--quiet', '--rm', container, name])
  return root
}

function addNode(prefix: string): void {
  const cli = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"']).toString().trim()
  const modules = join(prefix, 'lib/node_modules')
  mkdirSync(modules, { recursive: true })
  cpSync(resolve(dirname(cli), '..'), join(modules, 'npm'), { recursive: true })
  cpSync(process.execPath, join(prefix, 'bin/node'))
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(prefix, 'bin/npm'))
}

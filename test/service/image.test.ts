import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unless } from '../support/evidence.ts'
import { ContainerStorage } from '../support/images/container-storage.ts'
import { makeNodeBase, whyNoDebian } from '../support/images/node-base.ts'
import { whyNot } from '../support/probe.ts'
import { selfSigned } from '../support/through-daemon.ts'
import { containerOf, probesOf, python, readDaemonSet } from './support/daemonset.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const containerfile = join(root, 'deploy/Containerfile')
const image = 'localhost/forkpoint'
const name = `forkpoint-test-${process.pid}`

/** Packages of Debian and npm are fetched, and the C programs are compiled. */
const longestBuildMs = 20 * 60_000

const podman = ['--cgroup-manager', 'cgroupfs', '--runtime', 'runc', '--events-backend', 'none']
// Without limits of its own, Podman asks for more than a root without CAP_SYS_RESOURCE may have.
const limits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']

/** In the container; returns what it prints. */
async function inside(...words: string[]): Promise<string> {
  const { stdout } = await run('podman', [...podman, 'exec', name, ...words])
  return stdout
}

const why = whyNot(python, '-c', 'import yaml') ?? whyNoDebian()

describe('the image, built from deploy/Containerfile', unless(why), () => {
  let storage: ContainerStorage
  let base: string

  beforeAll(async () => {
    storage = new ContainerStorage()
    const from = /^FROM (\S+)$/m.exec(readFileSync(containerfile, 'utf8'))?.[1] ?? ''
    base = await makeNodeBase(storage, from)
    const options = ['--pull-never', '--network', 'host', '--layers=false', '--quiet']
    await run('buildah', ['bud', ...options, '-t', image, '-f', containerfile, root])
  }, longestBuildMs)
  afterAll(() => storage[Symbol.dispose]())

  test('serves as deploy/daemonset.yaml starts it, answers its probes, and branches', async () => {
    const container = containerOf(readDaemonSet(join(root, 'deploy/daemonset.yaml')))
    const home = storage.files.file('home')
    mkdirSync(home)
    const places: Record<string, string> = { home, tls: tlsSecret(), devices: '/dev' }
    const mounts = container.volumeMounts.flatMap(({ name: volume, mountPath }) => [
      '--volume',
      `${places[volume]}:${mountPath}`,
    ])
    const started = ['--detach', '--name', name, '--privileged', '--network', 'none', ...limits]
    const sources = ['--volume', `${base}:/srv/debian:ro`]
    const words = [...started, ...mounts, ...sources, image, ...container.args]
    await run('podman', [...podman, 'run', ...words])

    const port = container.ports[0]?.containerPort
    for (const { httpGet } of probesOf(container)) {
      const url = `${httpGet.scheme.toLowerCase()}://127.0.0.1:${port}${httpGet.path}`
      await expect.poll(() => statusOf(url)).toBe('200')
    }
    await branch()
    await run('podman', [...podman, 'stop', '--time', '20', name])
  })

  /** As Kubernetes names the files of a secret for TLS. */
  function tlsSecret(): string {
    const dir = storage.files.file('tls')
    mkdirSync(dir)
    const { cert, key } = selfSigned(dir)
    renameSync(cert, join(dir, 'tls.crt'))
    renameSync(key, join(dir, 'tls.key'))
    return dir
  }
})

/** As the kubelet asks, which does not check the certificate. */
async function statusOf(url: string): Promise<string> {
  const ask = `process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    fetch('${url}').then(({ status }) => console.log(status), ({ cause }) => console.log(String(cause)))`
  const node = '/var/lib/forkpoint-runtime/node/bin/node'
  return (await inside(node, '--no-warnings', '-e', ask)).trim()
}

async function branch(): Promise<void> {
  const keep = 'echo kept > /tmp/state; sleep 1000 & echo $! > /tmp/pid'
  await inside('forkpoint', 'create', '--name', 'web', '--from', 'rootfs:/srv/debian')
  await inside('forkpoint', 'exec', 'web', '--', keep)
  await inside('forkpoint', 'snapshot', 'web', '--name', 'ready')
  await inside('forkpoint', 'fork', 'ready', '--name', 'other')
  await inside('forkpoint', 'restore', 'web', 'ready')
  for (const each of ['web', 'other']) {
    const look = 'cat /tmp/state; kill -0 $(cat /tmp/pid)'
    expect(await inside('forkpoint', 'exec', each, '--', look)).toBe('kept\n')
  }
  await inside('forkpoint', 'rm', '--force', 'web', 'other')
}

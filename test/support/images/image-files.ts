// Images written by hand: the same bytes that skopeo and docker save would write, or bytes they never would.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { entry, type HandMade } from '../hand-made-tar.ts'
import { makeSmallRootfs } from '../small-rootfs.ts'

export interface HandMadeLayer {
  /** the archive itself */
  readonly tar: Buffer
  /** as it lies in the image */
  readonly blob: Buffer
}

const end = Buffer.alloc(1024)

export function tarOf(...entries: readonly HandMade[]): Buffer {
  return Buffer.concat([...entries.map(entry), end])
}

export function plainLayer(tar: Buffer): HandMadeLayer {
  return { tar, blob: tar }
}

export function gzippedLayer(tar: Buffer): HandMadeLayer {
  return { tar, blob: gzipSync(tar) }
}

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

let rootfs: Buffer | undefined

/** A layer with a shell and a few programs. */
export function rootfsLayer(dir: string): HandMadeLayer {
  if (rootfs === undefined) {
    const root = join(dir, `rootfs-${process.pid}`)
    mkdirSync(root)
    makeSmallRootfs(root)
    const args = ['-C', root, '--sort=name', '--numeric-owner', '-cf', '-', '.']
    rootfs = execFileSync('tar', args, { maxBuffer: 2 ** 30 })
  }
  return plainLayer(rootfs)
}

export type Config = Readonly<Record<string, unknown>>

function configOf(layers: readonly HandMadeLayer[], config: Config): Buffer {
  const diffIds = layers.map(({ tar }) => `sha256:${sha256(tar)}`)
  const whole = {
    architecture: 'amd64',
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: diffIds },
  }
  return Buffer.from(JSON.stringify(whole))
}

/** The files of an image in the layout of OCI, by name. */
export function layoutFiles(
  layers: readonly HandMadeLayer[],
  config: Config = {},
): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const put = (bytes: Buffer) => {
    files.set(`blobs/sha256/${sha256(bytes)}`, bytes)
    return { digest: `sha256:${sha256(bytes)}`, size: bytes.length }
  }
  const manifest = {
    schemaVersion: 2,
    config: put(configOf(layers, config)),
    layers: layers.map(({ blob }) => put(blob)),
  }
  const described = put(Buffer.from(JSON.stringify(manifest)))
  files.set('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}'))
  files.set('index.json', Buffer.from(JSON.stringify({ manifests: [described] })))
  return files
}

export function writeLayout(dir: string, files: ReadonlyMap<string, Buffer>): void {
  mkdirSync(join(dir, 'blobs/sha256'), { recursive: true })
  for (const [name, bytes] of files) writeFileSync(join(dir, name), bytes)
}

export function archiveOfFiles(files: ReadonlyMap<string, Buffer>): Buffer {
  return tarOf(...[...files].map(([name, content]) => ({ name, content })))
}

/** What `docker save` writes. */
export function savedFiles(
  layers: readonly HandMadeLayer[],
  config: Config = {},
): Map<string, Buffer> {
  const described = configOf(layers, config)
  const names = layers.map(({ tar }) => `${sha256(tar)}/layer.tar`)
  const manifest = [{ Config: `${sha256(described)}.json`, RepoTags: null, Layers: names }]
  return new Map([
    [`${sha256(described)}.json`, described],
    ...layers.map(({ blob }, index) => [names[index] ?? '', blob] as const),
    ['manifest.json', Buffer.from(JSON.stringify(manifest))],
  ])
}

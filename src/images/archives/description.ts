import { join } from 'node:path'
import * as z from 'zod/mini'
import { digestOf, hexOf } from '../cache.ts'
import { configSchema, type ImageConfig } from '../facts.ts'
import { type Blob, badImage, type ImageFiles, openBlob, readBlob } from './blobs.ts'

/** An image that lies in files, as far as it describes itself. */
export interface DescribedImage {
  readonly where: string
  /** digest of its configuration */
  readonly hex: string
  readonly config: ImageConfig
  /** lowest first */
  readonly layers: readonly DescribedLayer[]
}

export interface DescribedLayer {
  readonly blob: Blob
  /** digest of the archive, once decompressed */
  readonly hex: string
}

const descriptorSchema = z.object({
  mediaType: z.nullish(z.string()),
  digest: z.string(),
  platform: z.nullish(z.object({ architecture: z.string(), os: z.string() })),
})
const indexSchema = z.object({ manifests: z.array(descriptorSchema) })
const manifestSchema = z.object({ config: descriptorSchema, layers: z.array(descriptorSchema) })
const wholeConfigSchema = z.object({
  config: z.nullish(configSchema),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
})
const savedSchema = z.array(z.object({ Config: z.string(), Layers: z.array(z.string()) }))

/** The kernel takes 500 layers, and environments add some. Docker makes at most 127. */
const mostLayers = 200
const deepestIndex = 3
const ourArchitecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]

/** The files of a directory in the layout of OCI. */
export function directoryFiles(dir: string): ImageFiles {
  return {
    where: dir,
    find: async (name) => {
      const path = join(dir, name)
      try {
        const { file, size } = await openBlob(path)
        await file.close()
        return { path, start: 0, size }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
  }
}

/** Reads what `docker save` wrote, or the layout of OCI. */
export async function describeImage(files: ImageFiles): Promise<DescribedImage> {
  const saved = await files.find('manifest.json')
  return saved === undefined ? await describeLayout(files) : await describeSaved(files, saved)
}

async function describeSaved(files: ImageFiles, manifest: Blob): Promise<DescribedImage> {
  const images = parse(files, savedSchema, await readBlob(manifest))
  const [image] = images
  if (image === undefined || images.length > 1) {
    throw badImage(files.where, `it has ${images.length} images, and one is needed`)
  }
  const config = await readBlob(await need(files, image.Config))
  const layers = await Promise.all(image.Layers.map((name) => need(files, name)))
  return described(files, config, layers)
}

async function describeLayout(files: ImageFiles): Promise<DescribedImage> {
  const index = await files.find('index.json')
  if (index === undefined) {
    throw badImage(files.where, 'it has neither manifest.json nor index.json')
  }
  const manifest = await findManifest(files, await readBlob(index), 0)
  const { config, layers } = parse(files, manifestSchema, manifest)
  const blobs = await Promise.all(layers.map(({ digest }) => need(files, blobName(files, digest))))
  return described(files, await readVerified(files, config.digest), blobs)
}

/** An index may lead to others: one for each platform. */
async function findManifest(files: ImageFiles, text: Buffer, depth: number): Promise<Buffer> {
  const { manifests } = parse(files, indexSchema, text)
  const ours = manifests.filter(({ platform }) => isOurs(platform))
  const [found] = ours
  if (found === undefined || ours.length > 1 || depth > deepestIndex) {
    throw badImage(files.where, `it has ${ours.length} images for this machine, and one is needed`)
  }
  const next = await readVerified(files, found.digest)
  return found.mediaType?.includes('index') || found.mediaType?.includes('manifest.list')
    ? await findManifest(files, next, depth + 1)
    : next
}

function isOurs(platform: z.infer<typeof descriptorSchema>['platform']): boolean {
  if (!platform) return true
  return platform.os === 'linux' && platform.architecture === ourArchitecture
}

function described(files: ImageFiles, config: Buffer, blobs: readonly Blob[]): DescribedImage {
  const { config: inner, rootfs } = parse(files, wholeConfigSchema, config)
  const digests = rootfs.diff_ids.map(hexOf)
  if (digests.length !== blobs.length || digests.length > mostLayers) {
    throw badImage(files.where, `it has ${blobs.length} layers and ${digests.length} digests`)
  }
  const layers = blobs.map((blob, index) => {
    const hex = digests[index]
    if (!hex) throw badImage(files.where, 'a digest in it is not SHA-256')
    return { blob, hex }
  })
  return { where: files.where, hex: digestOf(config), config: inner ?? {}, layers }
}

function blobName(files: ImageFiles, digest: string): string {
  const hex = hexOf(digest)
  if (hex === null) throw badImage(files.where, 'a digest in it is not SHA-256')
  return `blobs/sha256/${hex}`
}

async function readVerified(files: ImageFiles, digest: string): Promise<Buffer> {
  const text = await readBlob(await need(files, blobName(files, digest)))
  if (digestOf(text) !== hexOf(digest)) throw badImage(files.where, `${digest} does not match`)
  return text
}

async function need(files: ImageFiles, name: string): Promise<Blob> {
  const blob = await files.find(name)
  if (blob === undefined) throw badImage(files.where, `it lacks ${JSON.stringify(name)}`)
  return blob
}

function parse<T>(files: ImageFiles, schema: z.ZodMiniType<T>, text: Buffer): T {
  try {
    return schema.parse(JSON.parse(text.toString('utf8')))
  } catch (error) {
    throw badImage(files.where, 'a description in it is damaged', error)
  }
}

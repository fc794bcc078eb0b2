import { lstat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import * as z from 'zod/mini'
import { BackendError } from '../model/errors.ts'
import { hexOf } from './cache.ts'
import { configSchema, type ImageConfig } from './facts.ts'
import type { EngineName } from './held.ts'
import type { ImageLayer } from './image-layer.ts'
import type { ImageStore } from './image-store.ts'

const inspectedSchema = z.array(
  z.object({
    Id: z.string(),
    Size: z.nullish(z.number()),
    Config: z.nullish(configSchema),
    /** where Podman puts it */
    HealthCheck: configSchema.shape.Healthcheck,
    GraphDriver: z.nullish(
      z.object({
        Name: z.nullish(z.string()),
        Data: z.nullish(z.record(z.string(), z.unknown())),
      }),
    ),
  }),
)

/** An image in the storage of an engine. */
export interface StoredImage {
  readonly engine: EngineName
  /** digest of its configuration */
  readonly hex: string
  readonly config: ImageConfig
  readonly bytes: number
  /** topmost first; null: they are no directories that OverlayFS can use here */
  readonly layers: readonly ImageLayer[] | null
}

/** Null if the engine does not have it. */
export async function inspectImage(
  { tools }: ImageStore,
  engine: EngineName,
  reference: string,
): Promise<StoredImage | null> {
  const { exitCode, stdout } = await tools.run(engine, ['image', 'inspect', '--', reference])
  if (exitCode !== 0) return null
  const [image] = parsed(engine, stdout)
  const hex = hexOf(image?.Id ?? '')
  if (image === undefined || hex === null) throw unreadable(engine)
  const { Config, HealthCheck, GraphDriver, Size } = image
  const config = { ...Config, Healthcheck: Config?.Healthcheck ?? HealthCheck }
  const layers = await layersOf(GraphDriver?.Name ?? '', GraphDriver?.Data ?? {})
  return { engine, hex, config, bytes: Size ?? 0, layers }
}

function parsed(engine: EngineName, text: string): z.infer<typeof inspectedSchema> {
  try {
    return inspectedSchema.parse(JSON.parse(text))
  } catch (error) {
    throw unreadable(engine, error)
  }
}

function unreadable(engine: EngineName, cause?: unknown): BackendError {
  return new BackendError(`\`${engine} image inspect\` printed something unexpected`, {
    remedy: 'choose another program with the setting images.tool, or use archive:FILE',
    cause,
  })
}

async function layersOf(
  driver: string,
  data: Readonly<Record<string, unknown>>,
): Promise<ImageLayer[] | null> {
  if (driver !== 'overlay' && driver !== 'overlay2') return null
  const { UpperDir: upper, LowerDir: lower = '' } = data
  if (typeof upper !== 'string' || typeof lower !== 'string') return null
  const paths = [upper, ...lower.split(':').filter(Boolean)]
  const usable = await Promise.all(paths.map(isUsable))
  return usable.every(Boolean) ? paths.map((path) => ({ path, ids: 'host' })) : null
}

/**
 * Whether a layer is a directory of this machine with the ids that the image has. Root owns it, unless the
 * engine shifts ids; then an export has the right ones.
 */
async function isUsable(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false
  return lstat(path).then(
    (info) => info.isDirectory() && info.uid === 0,
    // A remote engine's directories are not here.
    () => false,
  )
}

/** Writes the image as an archive into a directory, where its layers cannot be used in place. */
export async function exportImage(
  { tools }: ImageStore,
  engine: EngineName,
  hex: string,
  dir: string,
): Promise<string> {
  const file = join(dir, 'image.tar')
  const format = engine === 'podman' ? ['--format', 'docker-archive'] : []
  const args = ['save', ...format, '--output', file, hex]
  await tools.mustRun(`exporting the image ${hex.slice(0, 12)} from ${engine}`, engine, args)
  return file
}

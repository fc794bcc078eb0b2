import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { namesIn } from '../linux/files/names-in.ts'
import { removeTree } from '../linux/files/remove-tree.ts'
import { isAlive, selfIdentity } from '../linux/process-identity.ts'
import type { Tools } from '../linux/tools.ts'
import { BackendError } from '../model/errors.ts'
import type { ImageFacts } from '../model/image.ts'
import { type Held, heldSchema } from './held.ts'
import { type ImageLayer, layerSchema } from './image-layer.ts'
import type { ImagePlaces } from './image-store.ts'

/** An image that environments can start from at once. */
export interface Entry {
  readonly facts: ImageFacts
  /** topmost first */
  readonly layers: readonly ImageLayer[]
  /** the image in the storage of a tool that its layers lie in; null: they lie in the home */
  readonly held: Held | null
  /** of all its layers */
  readonly bytes: number
  /** the sources that it came from */
  readonly names: readonly string[]
}

const wordsSchema = z.array(z.string())
const mapSchema = z.record(z.string(), z.string())
const number = z.nullable(z.number())

const factsSchema: z.ZodMiniType<ImageFacts> = z.object({
  id: z.string(),
  env: mapSchema,
  labels: mapSchema,
  workdir: z.string(),
  user: z.nullable(z.string()),
  entrypoint: wordsSchema,
  command: wordsSchema,
  ports: wordsSchema,
  volumes: wordsSchema,
  healthcheck: z.nullable(
    z.object({ command: wordsSchema, intervalMs: number, timeoutMs: number, retries: number }),
  ),
})

const entrySchema: z.ZodMiniType<Entry> = z.object({
  facts: factsSchema,
  layers: z.array(layerSchema),
  held: z.nullable(heldSchema),
  bytes: z.number(),
  names: wordsSchema,
})

/**
 * The parts of `data/images`:
 *
 * - `entries/HEX.json`: one image, named after the digest of its configuration;
 * - `layers/HEX`: one unpacked layer, named after the digest of its archive;
 * - `holds/HEX.json`: what an engine keeps for us, or is about to;
 * - `keys/HEX`: the id of the image that a build with these files made;
 * - `drafts/PID-TICKS-BOOT-RANDOM`: what a process is making at this moment.
 *
 * Everything is made under another name and renamed, so it is complete or missing.
 */
export function partOf(places: ImagePlaces, part: Part): string {
  return join(places.images, part)
}

const parts = ['entries', 'layers', 'holds', 'keys', 'drafts'] as const

type Part = (typeof parts)[number]

export async function makeCache(places: ImagePlaces): Promise<void> {
  for (const part of parts) {
    await mkdir(partOf(places, part), { recursive: true, mode: 0o700 })
  }
}

/** Whether there is anything that the volume must stay for. */
export function hasImages(places: ImagePlaces): boolean {
  return (['entries', 'layers', 'holds', 'drafts'] as const).some(
    (part) => namesIn(partOf(places, part)).length > 0,
  )
}

const hexShape = /^[0-9a-f]{64}$/

/** Of `sha256:HEX`. Names of files are made of it, so it must be one. */
export function hexOf(digest: string): string | null {
  const hex = digest.startsWith('sha256:') ? digest.slice(7) : digest
  return hexShape.test(hex) ? hex : null
}

function entryPath(places: ImagePlaces, id: string): string {
  return join(partOf(places, 'entries'), `${hexOf(id) ?? 'none'}.json`)
}

/** Null if the image is not there, or a tool has removed layers that it kept for us. */
export async function findEntry(places: ImagePlaces, id: string): Promise<Entry | null> {
  const entry = await readEntry(entryPath(places, id))
  if (entry === null) return null
  const found = await Promise.all(entry.layers.map(({ path }) => isDirectory(path)))
  return found.every(Boolean) ? entry : null
}

async function readEntry(path: string): Promise<Entry | null> {
  // A missing entry is the common case, and a reader of any other failure builds the image anew.
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null ? null : stored('entry', entrySchema, JSON.parse(text))
}

export async function listEntries(places: ImagePlaces): Promise<Entry[]> {
  const dir = partOf(places, 'entries')
  const entries = namesIn(dir).map((name) => readEntry(join(dir, name)))
  return (await Promise.all(entries)).filter((entry) => entry !== null)
}

export async function writeEntry(places: ImagePlaces, entry: Entry): Promise<void> {
  await writeWhole(places, entryPath(places, entry.facts.id), JSON.stringify(entry))
}

export async function removeEntry(places: ImagePlaces, id: string): Promise<void> {
  await rm(entryPath(places, id), { force: true })
}

/** Written before an engine is asked, so that nothing is kept there for ever if this process is killed. */
export async function noteHold(places: ImagePlaces, hex: string, held: Held): Promise<void> {
  await writeWhole(places, join(partOf(places, 'holds'), `${hex}.json`), JSON.stringify(held))
}

/** By the digest of the image. */
export async function listHolds(places: ImagePlaces): Promise<Map<string, Held>> {
  const dir = partOf(places, 'holds')
  const holds = namesIn(dir).map(async (name) => {
    const text = await readFile(join(dir, name), 'utf8')
    return [name.slice(0, 64), stored('hold', heldSchema, JSON.parse(text))] as const
  })
  return new Map(await Promise.all(holds))
}

export async function forgetHold(places: ImagePlaces, hex: string): Promise<void> {
  await rm(join(partOf(places, 'holds'), `${hex}.json`), { force: true })
}

export async function rememberBuild(places: ImagePlaces, key: string, id: string): Promise<void> {
  await writeWhole(places, join(partOf(places, 'keys'), key), id)
}

/** The image that a build with this key made. */
export async function recallBuild(places: ImagePlaces, key: string): Promise<Entry | null> {
  // Nobody has built it.
  const id = await readFile(join(partOf(places, 'keys'), key), 'utf8').catch(() => null)
  return id === null ? null : await findEntry(places, id)
}

/** Removes the keys that lead to none of these images. */
export async function forgetBuilds(places: ImagePlaces, kept: ReadonlySet<string>): Promise<void> {
  const dir = partOf(places, 'keys')
  for (const name of namesIn(dir)) {
    const id = await readFile(join(dir, name), 'utf8').catch(() => '')
    if (!kept.has(id)) await rm(join(dir, name), { force: true })
  }
}

/** A directory of our own, which the next process removes if this one is killed. */
export async function makeDraft(places: ImagePlaces): Promise<string> {
  const path = newDraft(places)
  await mkdir(path, { mode: 0o755 })
  return path
}

function newDraft(places: ImagePlaces): string {
  const { pid, startTicks, bootId } = selfIdentity()
  const boot = bootId.replaceAll('-', '')
  const name = `${pid}-${startTicks}-${boot}-${randomBytes(6).toString('hex')}`
  return join(partOf(places, 'drafts'), name)
}

/** Removes the drafts of processes that are gone. */
export async function sweepDrafts(tools: Tools, places: ImagePlaces): Promise<void> {
  const dir = partOf(places, 'drafts')
  for (const name of namesIn(dir)) {
    const [, pid, startTicks, boot = ''] = /^(\d+)-(\d+)-([0-9a-f]{32})-/.exec(name) ?? []
    const bootId = boot.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    const owner = { pid: Number(pid), startTicks: Number(startTicks), bootId }
    if (pid === undefined || !isAlive(owner)) await removeTree(tools, join(dir, name))
  }
}

export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

async function writeWhole(places: ImagePlaces, path: string, text: string): Promise<void> {
  const draft = newDraft(places)
  await writeFile(draft, text, { flush: true, mode: 0o600 })
  await rename(draft, path)
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  )
}

function stored<T>(what: string, schema: z.ZodMiniType<T>, record: unknown): T {
  const parsed = schema.safeParse(record)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new BackendError(`the cache of images has an unreadable ${what}`, {
    remedy:
      'use the version of Forkpoint that wrote it, or remove the images directory of the home',
    detail: { where: issue?.path.join('.') ?? '', why: issue?.message ?? 'unknown' },
  })
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import * as messages from '../../src/criu/images/format/criu-messages.ts'
import { decodeImage, encodeImage } from '../../src/criu/images/format/image-file.ts'
import { change, read, type Schema } from '../../src/criu/images/format/schema.ts'
import { refuseUnknownImages } from '../../src/criu/images/format/version.ts'
import { describeMemory } from '../../src/criu/images/memory/describe.ts'
import { decodePagemap, withoutPages } from '../../src/criu/images/memory/pagemap.ts'
import type { ByteRange, MemoryImages } from '../../src/criu/images/memory/pages.ts'
import { shareMemory } from '../../src/criu/images/memory/share.ts'
import { TestHome } from '../support/test-home.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bringDirectory, run } from '../support/workloads/run.ts'

const page = 4096

type AnySchema = Schema<Record<string, readonly [number, 'message', 'optional']>>

/** The schema of an image's entries, by the beginning of its name. */
const entries: Record<string, unknown> = {
  inventory: messages.inventoryEntry,
  ids: messages.taskKobjIdsEntry,
  fdinfo: messages.fdinfoEntry,
  files: messages.fileEntry,
  filelocks: messages.fileLockEntry,
  'remap-fpath': messages.remapFilePathEntry,
  mountpoints: messages.mntEntry,
  mm: messages.mmEntry,
}

/** The schema of messages within them, by the name of the field. */
const inner: Record<string, unknown> = {
  reg: messages.regFileEntry,
  isk: messages.inetSkEntry,
  tfd: messages.timerfdEntry,
  fown: messages.fownEntry,
  vmas: messages.vmaEntry,
}

/** Raw bytes, or messages with raw bytes in between. */
const raw =
  /^(pages-|ghost-file|pipes-data|fifo-data|sk-queues|tcp-stream|ipcns-(shm|msg|sem)|tmpfs-)/

/** The images of C and Python programs that hold every kind of thing that CRIU knows. */
async function withDump(check: (images: string) => void): Promise<void> {
  await using home = new TestHome('images')
  const fp = await home.open()
  const env = await fp.create({ memory: 'copy' })
  const sources = await bringDirectory(env, 'kernel-objects')
  await run(env, `gcc -O1 -pthread -o /root/program ${sources}/*.c`)
  await run(env, 'mkdir /root/objects; cd /root/objects')
  const program = dialogue('program', '/root/program', (mark) => `say ${mark}`)
  await program.start(env)
  expect(await program.ask(env, 'check')).toBe('OK')
  const fill = 'x = [str(i) for i in range(200000)]; print(len(x), flush=True)'
  await run(env, `python3 -c "import time; ${fill}; time.sleep(600)" > /root/python &`)
  await expect.poll(() => run(env, 'cat /root/python')).toBe('200000')
  const snapshot = await env.snapshot()
  check(join(placesOf(home.path).snapshot(snapshot.id), 'images'))
}

test('real images are identical if nothing changes, and mean the same when shared', () =>
  withDump((images) => {
    const names = readdirSync(images).filter((name) => name.endsWith('.img') && !raw.test(name))
    const load = (name: string) => readFileSync(join(images, name))
    refuseUnknownImages(decodeImage(load('inventory.img')))
    expect(names.length).toBeGreaterThan(30)
    for (const name of names) expectSameAgain(name, load(name))
    const pids = names.flatMap((name) => /^mm-(\d+)\.img$/.exec(name)?.[1] ?? [])
    const shared = pids.map((pid) =>
      expectSameMemory({ mm: load(`mm-${pid}.img`), pagemap: load(`pagemap-${pid}.img`) }),
    )
    expect(Math.max(...shared)).toBeGreaterThan(10 * 1024 ** 2)
  }))

function expectSameAgain(name: string, bytes: Buffer): void {
  const image = decodeImage(bytes)
  expect(encodeImage(image), name).toEqual(bytes)
  const schema = entries[name.replace(/(-\d+)?\.img$/, '')]
  if (schema) for (const entry of image.entries) expectSameMessage(schema, entry, name)
  if (!/^pagemap-\d/.test(name)) return
  expect(withoutPages(decodePagemap(bytes), []).pagemap, name).toEqual(bytes)
}

/** Every field that we know is written again, one by one. */
function expectSameMessage(schema: unknown, bytes: Uint8Array, name: string): void {
  const known = schema as AnySchema
  const { unknownFields, ...fields } = read(known, bytes)
  const isThere = Object.entries(fields).filter(([field]) => {
    const number = known.fields[field]?.[0]
    return (
      number !== undefined && change(known, bytes, { [field]: undefined }).length < bytes.length
    )
  })
  expect(Buffer.from(change(known, bytes, Object.fromEntries(isThere))), name).toEqual(
    Buffer.from(bytes),
  )
  for (const [field, value] of isThere) {
    const within = inner[field]
    if (!within) continue
    for (const one of [value].flat()) if (one) expectSameMessage(within, one, `${name}: ${field}`)
  }
}

/** The number of bytes that are shared. */
function expectSameMemory(images: MemoryImages): number {
  const fileId = 999_999
  const shared = shareMemory(images, fileId, { minRunPages: 16, mostVmas: 30_000 })
  if (shared === null) return 0
  const before = sourcesOf(images, (offset) => offset)
  const left = shared.leftovers.flatMap(offsetsOf)
  const after = sourcesOf(shared, (offset) => left[offset / page] ?? Number.NaN, fileId)
  expect(after).toEqual(before)
  return shared.sharedBytes
}

/** Where each page comes from, in terms of the pages file that the dump had. */
function sourcesOf(
  images: MemoryImages,
  originalOffset: (offset: number) => number,
  pagesFile?: number,
): Map<number, string> {
  const sources = new Map<number, string>()
  for (const { start, end, source } of describeMemory(images)) {
    for (let at = start; at < end; at += page) {
      const offset = 'offset' in source ? source.offset + at - start : 0
      if (source.kind === 'page') sources.set(at, `page ${originalOffset(offset)}`)
      else if (source.kind !== 'file') sources.set(at, JSON.stringify(source))
      else if (source.fileId === pagesFile) sources.set(at, `page ${offset}`)
      else sources.set(at, `file ${source.fileId} ${offset}`)
    }
  }
  return sources
}

function offsetsOf({ offset, length }: ByteRange): number[] {
  return Array.from({ length: length / page }, (_, at) => offset + at * page)
}

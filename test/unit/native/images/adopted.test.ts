import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freeNumbers, renumber } from '../../../../src/criu/images/adopted/numbers.ts'
import { foreignId, withWalls } from '../../../../src/criu/images/adopted/walls.ts'
import { openImages } from '../../../../src/criu/images/dump-images.ts'
import {
  coreEntry,
  credsEntry,
  pstreeEntry,
  rlimitEntry,
  seccompEntry,
  seccompFilter,
  taskCoreEntry,
  taskRlimitsEntry,
  threadCoreEntry,
  threadNumberPlace,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { newPagemap } from '../../../../src/criu/images/memory/pagemap.ts'

const head = Buffer.from(Uint32Array.from([0x54564319, 1]).buffer)
const page = 4096

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'adopted-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function write(name: string, ...entries: Uint8Array[]): void {
  writeFileSync(join(directory, name), encodeImage({ head, entries }))
}

type Process = Readonly<Record<'pid' | 'ppid' | 'pgid' | 'sid', number>> & {
  readonly threads: readonly number[]
}

function process(pid: number, ppid: number, pgid: number, sid: number): Process {
  return { pid, ppid, pgid, sid, threads: [pid] }
}

function writeTree(...tree: Process[]): void {
  write('pstree.img', ...tree.map((each) => make(pstreeEntry, each)))
}

function treeIn(images: Awaited<ReturnType<typeof renumber>>): Process[] {
  return images.image('pstree.img').entries.map((entry) => {
    const { unknownFields: _, ...each } = read(pstreeEntry, entry)
    return each
  })
}

/** A core whose C library keeps its number at this address. */
function core(more: Parameters<typeof make<typeof coreEntry.fields>>[1] = {}): Uint8Array {
  return make(coreEntry, { mtype: 1, ...more })
}

describe('numbers', () => {
  test('process 1 gets the lowest free one, in every image and in memory', async () => {
    writeTree(process(1, 0, 1, 1), process(2, 1, 1, 1), process(9, 1, 9, 1))
    const address = 5 * page + 16
    write('core-1.img', core({ threadInfo: make(threadNumberPlace, { clearTidAddr: address }) }))
    for (const name of ['mm-1.img', 'ids-1.img', 'core-2.img', 'fdinfo-1.img']) write(name)
    const pagemap = newPagemap(7, [{ start: 4 * page, end: 6 * page, place: 'here' }])
    writeFileSync(join(directory, 'pagemap-1.img'), pagemap)
    const memory = Buffer.alloc(2 * page)
    memory.writeInt32LE(1, page + 16)
    memory.writeInt32LE(1, page + 20)
    writeFileSync(join(directory, 'pages-7.img'), memory)
    const images = await renumber(directory)
    expect(treeIn(images)).toEqual([process(3, 0, 3, 3), process(2, 3, 3, 3), process(9, 3, 9, 3)])
    expect(readdirSync(directory).sort()).toEqual([
      ...['core-2.img', 'core-3.img', 'fdinfo-1.img', 'ids-3.img', 'mm-3.img'],
      ...['pagemap-3.img', 'pages-7.img', 'pstree.img'],
    ])
    const after = readFileSync(join(directory, 'pages-7.img'))
    expect([after.readInt32LE(page + 16), after.readInt32LE(page + 20)]).toEqual([3, 1])
  })

  test('a session and a group that began outside are led by the first process', async () => {
    writeTree(process(50, 0, 40, 30), process(51, 50, 51, 30), process(52, 50, 40, 52))
    const images = await renumber(directory)
    expect(treeIn(images)).toEqual([
      process(50, 0, 50, 50),
      process(51, 50, 51, 50),
      process(52, 50, 50, 52),
    ])
  })

  test('CRIU gets a row of numbers that nothing in the tree has', () => {
    writeTree(process(5, 0, 5, 5), process(20, 5, 20, 5))
    expect(freeNumbers(openImages(directory), 3)).toBe(2)
    expect(freeNumbers(openImages(directory), 4)).toBe(6)
    expect(freeNumbers(openImages(directory), 32)).toBe(21)
  })
})

describe('walls', () => {
  const walls = {
    filter: Buffer.from([1, 2, 3]),
    capabilities: 0x1_0000_0005n,
    limits: [{ cur: 10n, max: 20n }],
    noNewPrivs: false,
  }
  const creds = (more: object = {}) =>
    make(credsEntry, { uid: 7, capPrm: [0xff, 3], capBnd: [0xff, 3], lsmProfile: 'x', ...more })

  test('every thread has the filter of the cell first, and no more rights than its agent', () => {
    const own = make(seccompFilter, { filter: Buffer.from([9]) })
    write('seccomp.img', make(seccompEntry, { filters: [own] }))
    const unlimited = make(rlimitEntry, { cur: -1n, max: -1n })
    const tc = make(taskCoreEntry, {
      rlimits: make(taskRlimitsEntry, { rlimits: [unlimited] }),
      oomScoreAdj: -1000,
      loginuid: 5,
    })
    write('core-8.img', core({ tc, threadCore: make(threadCoreEntry, { creds: creds() }) }))
    const filtered = { creds: creds(), seccompMode: 2, seccompFilter: 0 }
    write('core-9.img', core({ threadCore: make(threadCoreEntry, filtered) }))
    const images = withWalls(openImages(directory), walls)
    const [entry = new Uint8Array()] = images.image('seccomp.img').entries
    const filters = read(seccompEntry, entry).filters.map((each) => read(seccompFilter, each))
    expect(filters.map(({ filter, prev }) => [[...filter], prev])).toEqual([
      [[1, 2, 3], undefined],
      [[9], 0],
    ])
    const threads = ['core-8.img', 'core-9.img'].map((name) => {
      const [bytes = new Uint8Array()] = images.image(name).entries
      const { tc: task, threadCore = new Uint8Array() } = read(coreEntry, bytes)
      return { task, thread: read(threadCoreEntry, threadCore) }
    })
    expect(threads.map(({ thread }) => [thread.seccompMode, thread.seccompFilter])).toEqual([
      [2, 0],
      [2, 1],
    ])
    const [first] = threads
    const task = read(taskCoreEntry, first?.task ?? new Uint8Array())
    expect(task).toMatchObject({ oomScoreAdj: 0, loginuid: 0xffff_ffff })
    const [limit = new Uint8Array()] = read(
      taskRlimitsEntry,
      task.rlimits ?? new Uint8Array(),
    ).rlimits
    expect(read(rlimitEntry, limit)).toMatchObject({ cur: 20n, max: 20n })
    expect(read(credsEntry, first?.thread.creds ?? new Uint8Array())).toMatchObject({
      uid: 7,
      capPrm: [5, 1],
      capBnd: [5, 1],
      lsmProfile: undefined,
    })
  })

  test('a user that a cell does not have is named with its thread', () => {
    const threadCore = make(threadCoreEntry, { creds: creds({ groups: [3, 70_000] }) })
    write('core-8.img', core({ threadCore }))
    expect(foreignId(openImages(directory), 65_536)).toEqual({ thread: 8, id: 70_000 })
    expect(foreignId(openImages(directory), 80_000)).toBeUndefined()
  })
})

import { expect, test } from 'vitest'
import {
  fileEntry,
  mmEntry,
  pstreeEntry,
  regFileEntry,
  vmaEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { decodeAreas } from '../../../../src/criu/images/memory/areas.ts'
import { tellMappingsApart } from '../../../../src/criu/images/memory/inheritance.ts'
import { regularFiles } from '../../../../src/criu/images/regular-files.ts'

const head = Buffer.from('1943565420284957', 'hex')
const pagesFile = { id: 7, name: '/.forkpoint/pages/1' }
const files = {
  head,
  entries: [make(fileEntry, { type: 1, id: 7, reg: make(regFileEntry, pagesFile) })],
}

/** Process 1, its child 2, and that child's child 3. */
const pstree = {
  head,
  entries: [0, 1, 2].map((ppid) => make(pstreeEntry, { pid: ppid + 1, ppid })),
}

type Mapping = readonly [start: number, end: number, pgoff: number]

function memory(...mappings: Mapping[]): Buffer {
  const vmas = mappings.map(([start, end, pgoff]) =>
    make(vmaEntry, { start, end, pgoff, shmid: 7, prot: 3, flags: 2, status: 65, fd: -1 }),
  )
  return encodeImage({ head, entries: [make(mmEntry, { exeFileId: 1, vmas })] })
}

function family(...memories: Buffer[]) {
  return { pstree, files, memories: new Map(memories.map((mm, index) => [index + 1, mm])) }
}

function filesIn(mm: Buffer | undefined): number[] {
  return mm ? decodeAreas(mm).areas.map(({ shmid }) => shmid) : []
}

const [a, b] = [
  [0x1000, 0x2000, 0],
  [0x5000, 0x6000, 0x1000],
] as const
/** The second block, moved to where the first was. */
const moved = [0x1000, 0x2000, 0x1000] as const

test("a child that moved a block to where its parent has another does not get the parent's block", () => {
  const apart = tellMappingsApart(family(memory(a, b), memory(moved)))
  expect([...(apart?.memories.keys() ?? [])]).toEqual([2])
  expect(filesIn(apart?.memories.get(2))).toEqual([8])
  expect(regularFiles(apart?.files ?? files)).toEqual([
    { ...pagesFile, size: undefined },
    { ...pagesFile, id: 8, size: undefined },
  ])
})

test('every generation is distinguished from the one before', () => {
  const apart = tellMappingsApart(family(memory(a, b), memory(moved, b), memory(a, b)))
  expect(filesIn(apart?.memories.get(2))).toEqual([8, 7])
  expect(filesIn(apart?.memories.get(3))).toEqual([9, 7])
})

test('a child with the same memory as its parent inherits it', () => {
  expect(tellMappingsApart(family(memory(a, b), memory(a, b)))).toBeNull()
  const longer = [0x1000, 0x3000, 0x1000] as const
  expect(tellMappingsApart(family(memory(a), memory(longer)))).toBeNull()
})

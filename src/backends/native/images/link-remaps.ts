import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BackendError } from '../../../model/errors.ts'
import { decodeImage } from './image-file.ts'
import { decodeMessage, type Message, numberOf } from './message.ts'

/** A file that is open under a name it no longer has, while it has others. */
export interface LinkRemap {
  /** the name that the images know it by */
  readonly name: string
  /** what leads to it below /proc inside */
  readonly holder: string
}

/** Field numbers of CRIU's messages that matter here. */
const remap = { originalId: 1, linkId: 2, type: 3 }
const file = { id: 2, regular: 3 }
const regular = { name: 6 }
const descriptor = { fileId: 1, fd: 4 }
const ids = { files: 2 }
const memory = { executable: 12, areas: 14 }
const area = { start: 1, end: 2, fileId: 4 }

const LINKED = 0

/** CRIU names each of them to restore it by, as a hard link beside the name that is gone. */
export async function linkRemapsOf(images: string): Promise<LinkRemap[]> {
  const names = await readdir(images)
  const read = async (name: string) =>
    decodeImage(await readFile(join(images, name))).entries.map(decodeMessage)
  if (!names.includes('remap-fpath.img')) return []
  const remaps = (await read('remap-fpath.img')).filter(
    (entry) => (numberOf(entry, remap.type) ?? LINKED) === LINKED,
  )
  if (remaps.length === 0) return []
  const links = linkNames(await read('files.img'))
  const holders = await holdersIn(names, read)
  return remaps.map((entry) => {
    const name = links.get(numberOf(entry, remap.linkId) ?? 0)
    const holder = holders.get(numberOf(entry, remap.originalId) ?? 0)
    if (name === undefined || holder === undefined) throw nobodyHolds(name ?? 'of no name')
    return { name: name.startsWith('/') ? name : `/${name}`, holder }
  })
}

/** One that is only in a message on its way between two processes, for example. */
function nobodyHolds(name: string): BackendError {
  return new BackendError(`cannot capture the open file ${name}: it has lost its name`, {
    remedy: 'close it, or give it a name again, then try again',
  })
}

function linkNames(files: readonly Message[]): Map<number, string> {
  return new Map(
    files.flatMap((entry) => {
      const inner = bytesOf(entry, file.regular)
      const name = inner && bytesOf(decodeMessage(inner), regular.name)
      return name ? [[numberOf(entry, file.id) ?? 0, name.toString()] as const] : []
    }),
  )
}

/** A path for every file that a process has open, mapped or runs, by the file's number. */
async function holdersIn(
  names: readonly string[],
  read: (name: string) => Promise<Message[]>,
): Promise<Map<number, string>> {
  const holders = new Map<number, string>()
  for (const name of names) {
    const pid = /^ids-(\d+)\.img$/.exec(name)?.[1]
    const [entry] = pid === undefined ? [] : await read(name)
    if (!entry) continue
    const table = `fdinfo-${numberOf(entry, ids.files)}.img`
    const open = names.includes(table) ? await read(table) : []
    for (const one of open) {
      holders.set(
        numberOf(one, descriptor.fileId) ?? 0,
        `/proc/${pid}/fd/${numberOf(one, descriptor.fd)}`,
      )
    }
    const [mapped = []] = names.includes(`mm-${pid}.img`) ? await read(`mm-${pid}.img`) : []
    holders.set(numberOf(mapped, memory.executable) ?? 0, `/proc/${pid}/exe`)
    for (const { number, value } of mapped) {
      if (number !== memory.areas || !Buffer.isBuffer(value)) continue
      const one = decodeMessage(value)
      const range = [area.start, area.end].map((at) => (numberOf(one, at) ?? 0).toString(16))
      holders.set(numberOf(one, area.fileId) ?? 0, `/proc/${pid}/map_files/${range.join('-')}`)
    }
  }
  return holders
}

function bytesOf(message: Message, number: number): Buffer | undefined {
  const value = message.find((field) => field.number === number)?.value
  return Buffer.isBuffer(value) ? value : undefined
}

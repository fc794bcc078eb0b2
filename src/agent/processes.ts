import { ForkpointError } from '../model/errors.ts'
import { readFile } from './files/file-content.ts'
import { listFiles } from './files/files.ts'
import type { AgentConnection, CallOptions } from './wire/connection.ts'

/** A process inside, as its `/proc` describes it. */
export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly uid: number
  /** as `ps` shows it: `R` running, `S` sleeping, `D` waiting for a disk, `T` stopped, `Z` ended … */
  readonly state: string
  readonly memoryBytes: number
  /** the command line; in brackets the name, if it has none */
  readonly command: string
}

/** Of a command line, which may be 2 MiB long. */
const LONGEST_COMMAND = 4096
/** Of the other file, whose fields are numbers. */
const LONGEST_STAT = 4096
const PAGE_BYTES = 4096

/** Every process inside, by pid. Those that end meanwhile are left out. */
export async function listProcesses(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<ProcessInfo[]> {
  const entries = await listFiles(connection, '/proc', options)
  const numbered = entries.filter(({ name }) => /^[1-9]\d{0,9}$/.test(name))
  const found = await Promise.all(
    numbered.map(({ name, uid }) => readProcess(connection, name, uid, options)),
  )
  return found.filter((each) => each !== null).sort((a, b) => a.pid - b.pid)
}

async function readProcess(
  connection: AgentConnection,
  pid: string,
  uid: number,
  options: CallOptions,
): Promise<ProcessInfo | null> {
  const read = async (name: string, lengthBytes: number) =>
    (await readFile(connection, `/proc/${pid}/${name}`, { ...options, lengthBytes })).toString()
  try {
    const [stat, words] = await Promise.all([
      read('stat', LONGEST_STAT),
      read('cmdline', LONGEST_COMMAND),
    ])
    return parseProcess(stat, words, uid)
  } catch (error) {
    options.signal?.throwIfAborted()
    // It has ended since it was listed.
    if (error instanceof ForkpointError && connection.isOpen) return null
    throw error
  }
}

/** `stat` and `cmdline` of a process; null if this is not what the kernel writes. */
export function parseProcess(stat: string, words: string, uid: number): ProcessInfo | null {
  // The second field is a name, which may have spaces and parentheses.
  const [, pid, name = '', rest = ''] = /^(\d+) \((.*)\) ([^)]*)$/s.exec(stat) ?? []
  const [state = '', parent, ...numbers] = rest.trim().split(' ')
  const pages = Number(numbers[19])
  if (pid === undefined || parent === undefined || !Number.isSafeInteger(pages)) return null
  const line = words.replace(/\0+$/, '').replaceAll('\0', ' ')
  return {
    pid: Number(pid),
    parent: Number(parent),
    uid,
    state,
    memoryBytes: pages * PAGE_BYTES,
    command: line === '' ? `[${name}]` : line,
  }
}

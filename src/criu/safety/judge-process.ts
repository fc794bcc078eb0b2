import { readFileSync } from 'node:fs'
import { pidInside } from '../../linux/command-line.ts'
import type { FileVerdict } from './judge-file.ts'
import { type MappedFile, mappedFiles } from './mapped-files.ts'
import type { Reached } from './reach.ts'

/** Whether a process may share the memory it had when it was captured, and what decided it. */
export interface ProcessVerdict {
  /** inside */
  readonly pid: number
  readonly command: string
  readonly share: boolean
  readonly why: string
  /** memory that it may not share nevertheless */
  readonly reached: readonly Reached[]
}

/** `isOwn` recognizes our pages files, which hold memory of the process, such as code it generated. */
export function judgeProcess(
  pid: number,
  recall: (file: MappedFile) => FileVerdict,
  isOwn: (path: string) => boolean,
): ProcessVerdict {
  const who = describeProcess(pid)
  const copied = (why: string) => ({ ...who, share: false, why, reached: [] })
  const reached: Reached[] = []
  const files = mappedFiles(pid)?.filter(({ path }) => !isOwn(path))
  if (files === undefined) return copied('maps too many files')
  if (files.length === 0) return copied('runs no file')
  for (const file of files) {
    const { safe, why, reach } = recall(file)
    if (!safe) return copied(`${file.name}: ${why}`)
    if (reach) reached.push({ reach, why: `${file.name}: ${why}` })
  }
  const where = reached.length === 0 ? '' : ' in the rest'
  return { ...who, share: true, why: `none of its files counts on zeros${where}`, reached }
}

/** Takes the pid on the host. The kernel writes a line break in a name as two characters. */
export function describeProcess(pid: number): Pick<ProcessVerdict, 'pid' | 'command'> {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return { pid: pidInside(status) ?? pid, command: /^Name:\t(.*)$/m.exec(status)?.[1] ?? '' }
  } catch {
    // It has ended, and will not be in the dump.
    return { pid, command: '' }
  }
}

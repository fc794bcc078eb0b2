import { readFileSync } from 'node:fs'
import { pidInside } from '../../linux/command-line.ts'
import type { FileVerdict } from './judge-file.ts'
import { type MappedFile, mappedFiles } from './mapped-files.ts'

/** Whether a process may share the memory it had when it was captured, and what decided it. */
export interface ProcessVerdict {
  /** as it is known inside */
  readonly pid: number
  readonly command: string
  readonly share: boolean
  readonly why: string
}

/** `isOwn` tells files of ours that stand for memory of the process, code it generated among it. */
export function judgeProcess(
  pid: number,
  recall: (file: MappedFile) => FileVerdict,
  isOwn: (path: string) => boolean,
): ProcessVerdict {
  const who = describeProcess(pid)
  const files = mappedFiles(pid)?.filter(({ path }) => !isOwn(path))
  if (files === undefined) return { ...who, share: false, why: 'maps too many files' }
  if (files.length === 0) return { ...who, share: false, why: 'runs no file' }
  for (const file of files) {
    const { safe, why } = recall(file)
    if (!safe) return { ...who, share: false, why: `${file.name}: ${why}` }
  }
  return { ...who, share: true, why: 'none of its files counts on zeros' }
}

/** By its number on the host. The kernel writes a line break in a name as two characters. */
export function describeProcess(pid: number): Pick<ProcessVerdict, 'pid' | 'command'> {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return { pid: pidInside(status) ?? pid, command: /^Name:\t(.*)$/m.exec(status)?.[1] ?? '' }
  } catch {
    return { pid, command: '' }
  }
}

import type { Lost } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { mmEntry, pstreeEntry } from '../images/format/criu-messages.ts'
import { read } from '../images/format/schema.ts'
import { heldFiles } from '../images/held-files.ts'
import { regularFiles } from '../images/regular-files.ts'
import { pidsIn } from '../memory/dumped-processes.ts'
import type { Verdicts } from '../memory/verdicts.ts'

type Process = NonNullable<Lost['process']>

/** What processes are and cannot be in a copy. */
export function lostAttributes(images: DumpImages, verdicts: Verdicts): Lost[] {
  const knows = knowsByStartTime(images)
  return pidsIn(images).flatMap((pid) => {
    const process = { pid, command: verdicts.get(pid)?.command ?? '?' }
    return [...notDumpable(images, process), ...(knows(pid) ? [childrenOf(process)] : [])]
  })
}

/** The kernel notes in which user namespace a program was executed, and a copy was not. */
function notDumpable(images: DumpImages, process: Process): Lost[] {
  const [entry] = images.image(`mm-${process.pid}.img`).entries
  const { dumpable = 1 } = entry ? read(mmEntry, entry) : {}
  if (dumpable === 1) return []
  return [
    {
      process,
      object: 'its directory in /proc',
      what: 'belongs to nobody, because the process is not dumpable',
      consequence: 'not even root inside can read its memory, descriptors and environment',
    },
  ]
}

/** Libraries that take a process with another start time for another process. */
const byStartTime = /\/(libjvm\.so|_psutil_[^/]*\.so)$/

/** Whether a process has children and would look at the time at which they began. */
function knowsByStartTime(images: DumpImages): (pid: number) => boolean {
  const libraries = new Set(
    regularFiles(images.files).flatMap(({ id, name }) => (byStartTime.test(name) ? id : [])),
  )
  if (libraries.size === 0) return () => false
  const tree = images.image('pstree.img').entries.map((entry) => read(pstreeEntry, entry))
  const parents = new Set(tree.map(({ ppid }) => ppid))
  return (pid) =>
    parents.has(pid) && heldFiles(images, pid).mapped.some(({ shmid }) => libraries.has(shmid))
}

function childrenOf(process: Process): Lost {
  return {
    process,
    object: 'its knowledge of its children',
    what: 'is out of date: they have other start times',
    consequence: 'ProcessHandle or psutil says that they are gone, and does not end them',
  }
}

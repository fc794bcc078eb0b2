import { readdirSync, statSync } from 'node:fs'
import { readOfProcess } from '../../linux/process-files.ts'
import { linkOf } from './process.ts'

/** A regular file that a process has open or mapped, and that still has its name. */
export interface OpenFile {
  readonly pid: number
  /** in its own root */
  readonly path: string
  readonly access: 'read' | 'write'
  /** id of the mount that it is on; null if it is only mapped */
  readonly mount: number | null
}

const deleted = / \(deleted\)$/

export function openFilesOf(pid: number): OpenFile[] {
  return [...descriptorsOf(pid), ...mappedOf(pid)]
}

function descriptorsOf(pid: number): OpenFile[] {
  return fdsOf(pid).flatMap((fd) => {
    const path = linkOf(`/proc/${pid}/fd/${fd}`) ?? ''
    if (!path.startsWith('/') || deleted.test(path)) return []
    if (!isRegular(`/proc/${pid}/fd/${fd}`)) return []
    const info = readOfProcess(pid, `fdinfo/${fd}`) ?? ''
    const flags = Number.parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8)
    const access = (flags & 3) === 0 ? 'read' : 'write'
    return [{ pid, path, access, mount: Number(/^mnt_id:\s+(\d+)/m.exec(info)?.[1] ?? 0) }]
  })
}

/** What it writes to through memory. */
function mappedOf(pid: number): OpenFile[] {
  const lines = (readOfProcess(pid, 'maps') ?? '').split('\n')
  const shared = lines.flatMap((line) => / .w.s \S+ \S+ [1-9]\d*\s+(\/.*)$/.exec(line)?.[1] ?? [])
  const paths = [...new Set(shared)].filter((path) => !deleted.test(path))
  return paths
    .filter((path) => isRegular(`/proc/${pid}/root${path}`))
    .map((path) => ({ pid, path, access: 'write', mount: null }))
}

/** Id of the mount that is the root of a process. */
export function rootMountOf(pid: number): number {
  const lines = (readOfProcess(pid, 'mountinfo') ?? '').split('\n').map((line) => line.split(' '))
  return Number(lines.findLast(([, , , , point]) => point === '/')?.[0] ?? 0)
}

function fdsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    // It has ended.
    return []
  }
}

function isRegular(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // It was closed meanwhile.
    return false
  }
}

import { execFile } from 'node:child_process'
import { closeSync, constants, fstatSync, linkSync, lstatSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { giveAttributes } from './write-entry.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
const run = promisify(execFile)

/** The file system allows no more links to this file, or no links at all. */
const noMoreLinks = new Set(['EMLINK', 'EPERM', 'EOPNOTSUPP'])

/** Gives a regular file another name; if the file system cannot, makes a copy instead. */
export async function giveSecondName(file: Buffer, place: Buffer): Promise<'linked' | 'copied'> {
  try {
    linkSync(file, place)
    return 'linked'
  } catch (error) {
    // A copy takes its place below.
    if (!noMoreLinks.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  await copyFile(file, place)
  return 'copied'
}

export function isFile(place: Buffer): boolean {
  return lstatSync(place).isFile()
}

/** Uses `cp`, which preserves holes. It reaches the files through our descriptors. */
async function copyFile(file: Buffer, place: Buffer): Promise<void> {
  const from = openSync(file, O_RDONLY | O_NOFOLLOW)
  try {
    const to = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      const paths = [from, to].map((fd) => `/proc/${process.pid}/fd/${fd}`)
      await run('cp', ['--sparse=always', '--', ...paths])
      const { mode, uid, gid, mtimeMs } = fstatSync(from)
      giveAttributes(to, { mode, uid, gid, mtimeSeconds: mtimeMs / 1000 }, 'keep')
    } finally {
      closeSync(to)
    }
  } finally {
    closeSync(from)
  }
}

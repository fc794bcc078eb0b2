import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs'
import { makeClosed, openClosedDirectory } from '../linux/files/closed-directory.ts'
import { existingEntry, resolveTrusted } from '../linux/files/trusted-path.ts'
import { PrerequisiteError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'

/** File systems that show the kernel: proc, sysfs, cgroup, cgroup2, devpts, debugfs, tracefs. */
const kernelTypes: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1, 0x64626720, 0x74726163,
])

/**
 * Makes the directory of a store if it does not exist, and returns its real path: cgroups, mounts
 * and interfaces are named after it, and another name would not find them. Whoever can write to
 * it, or replace it, could make root remove, mount and run anything.
 */
export function openHome(given: string): string {
  const refuse = (why: string, cause?: unknown) =>
    new PrerequisiteError(`cannot use ${quote(given)} as home: ${why}`, {
      remedy: isRoot() ? remedyOfRoot : remedyOfUser,
      detail: { home: given },
      cause,
    })
  const entryAt = (path: string) => madeEntry(path, refuse)
  const home = resolveTrusted(given, { entryAt, refuse })
  if (!lstatSync(home).isDirectory()) throw refuse(`${home} is not a directory`)
  requireAccess(home, refuse)
  if (kernelTypes.has(statfsSync(home).type)) throw refuse(`${home} belongs to the kernel`)
  openClosedDirectory(home, isOfHome)
  return home
}

const remedyOfRoot =
  "make it root's alone (`chown root:root`, `chmod go-w`), or set FORKPOINT_HOME or --home to a directory that is"
const remedyOfUser =
  'run it with sudo, or set FORKPOINT_HOME or --home to a directory that is yours alone'

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Others cannot use a home that belongs to root; SQLite's own error would be less clear. */
function requireAccess(home: string, refuse: (why: string, cause: unknown) => Error): void {
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw refuse(`uid ${process.geteuid?.()} may not write to it`, error)
  }
}

/** What is in a home made by a version that did not close it to others. */
function isOfHome(name: string): boolean {
  return /^(db\.sqlite.*|volume\.(ext4|btrfs).*|data|files|runtime|bench-.*|lost\+found)$/.test(
    name,
  )
}

/** The existing entry, or the directory just made. */
function madeEntry(path: string, refuse: (why: string, cause: unknown) => Error): Stats {
  try {
    const existing = existingEntry(path)
    if (existing !== null) return existing
    // Not with Node's recursive mkdir, which retries forever in places such as /proc.
    makeClosed(path)
  } catch (error) {
    // Another process made it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw refuse((error as Error).message, error)
    }
  }
  return lstatSync(path)
}

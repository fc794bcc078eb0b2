import { lstatSync, type Stats, statfsSync } from 'node:fs'
import { makeClosed, openClosedDirectory } from '../linux/closed-directory.ts'
import { PrerequisiteError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'
import { existingEntry, resolveTrusted } from './trusted-path.ts'

/** File systems that show the kernel: proc, sysfs, cgroup, cgroup2, devpts, debugfs, tracefs. */
const kernelTypes = new Set([
  ...[0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1, 0x64626720, 0x74726163],
])

/**
 * Makes the directory of a store where there is none, and returns its one true path: cgroups, mounts
 * and interfaces are named for it, and another name of it would not find them. Whoever can write to
 * it, or put another in its place, could have root remove, mount and run what they like.
 */
export function openHome(given: string): string {
  const refuse = (why: string, cause?: unknown) =>
    new PrerequisiteError(`cannot use ${quote(given)} as home: ${why}`, {
      remedy:
        "make it root's alone (`chown root:root`, `chmod go-w`), or set FORKPOINT_HOME or --home to a directory that is",
      detail: { home: given },
      cause,
    })
  const entryAt = (path: string) => madeEntry(path, refuse)
  const home = resolveTrusted(given, { entryAt, refuse })
  if (!lstatSync(home).isDirectory()) throw refuse(`${home} is not a directory`)
  if (kernelTypes.has(statfsSync(home).type)) throw refuse(`${home} belongs to the kernel`)
  openClosedDirectory(home, isOfHome)
  return home
}

/** What homes hold that were made by versions that did not close them. */
function isOfHome(name: string): boolean {
  return /^(db\.sqlite.*|volume\.ext4.*|data|runtime|bench-.*|lost\+found)$/.test(name)
}

/** What is there, or the directory that is made. */
function madeEntry(path: string, refuse: (why: string, cause: unknown) => Error): Stats {
  try {
    const there = existingEntry(path)
    if (there !== null) return there
    // Not by Node's recursive way: that tries for ever where nothing can be made, as in /proc.
    makeClosed(path)
  } catch (error) {
    // Another process has made it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw refuse((error as Error).message, error)
    }
  }
  return lstatSync(path)
}

/** Programs that root runs; one that is missing is complained of where it is needed. */
export function requireTrustedTool(setting: 'runtime' | 'criu', given: string): void {
  const refuse = (why: string, cause?: unknown) =>
    new PrerequisiteError(`cannot run programs of ${quote(given)}: ${why}`, {
      remedy: `make it root's alone (\`chown root:root\`, \`chmod go-w\`), or change the setting ${setting}`,
      detail: { [setting]: given },
      cause,
    })
  resolveTrusted(given, { entryAt: existingEntry, refuse })
}

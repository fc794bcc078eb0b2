import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { execCommand } from '../../../agent/commands/exec.ts'
import { greeted } from '../../../agent/wire/connect.ts'
import { AgentConnection } from '../../../agent/wire/connection.ts'
import { openAgentSocket } from '../../../agent/wire/socket.ts'
import { type OpenFile, openFilesOf, rootMountOf } from '../../../criu/foreign/open-files.ts'
import { commandOf, inWords } from '../../../linux/command-line.ts'
import { planMask } from '../../../linux/mask/mask.ts'
import { isBelow } from '../../../linux/mask/outermost.ts'
import type { Tools } from '../../../linux/tools.ts'
import { BackendError, InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { NativeInstance } from '../instance.ts'
import type { EnvironmentPlaces } from '../places.ts'

/** What a cell needs besides the files of its source. */
export interface CopiedFiles {
  /** null: the process works in `/`, of which nothing is copied */
  readonly workdir: string | null
  /** files outside it that the processes write to, or that a cell would not see */
  readonly files: readonly string[]
  /** paths below the working directory that stay hidden */
  readonly hidden: readonly string[]
}

/** Chooses what to copy for processes that use the host's files. Call it while they stand still. */
export function planCopy(
  tree: readonly number[],
  workdir: string,
  mask: readonly string[],
): CopiedFiles {
  const [root = 0] = tree
  const { hidden } = planMask(mask)
  const covered = [...hidden, '/run']
  const opened = tree.flatMap(openFilesOf)
  const inside = workdir === '/' ? () => false : (path: string) => isBelow(path, workdir)
  for (const file of opened) requireShown(file, covered)
  const mount = rootMountOf(root)
  const files = opened
    .filter(({ path }) => !inside(path))
    .filter(({ access, mount: on }) => access === 'write' || on !== mount)
    .map(({ path }) => path)
  return {
    workdir: workdir === '/' ? null : workdir,
    files: [...new Set(files)],
    hidden: hidden.filter(inside),
  }
}

/** What the mask hides from environments must not get there by way of a process. */
function requireShown({ pid, path }: OpenFile, covered: readonly string[]): void {
  const above = covered.find((hidden) => isBelow(path, hidden))
  if (above === undefined) return
  throw new BackendError(
    `cannot adopt ${inWords(commandOf(pid))}: it has ${quote(path)} open, which ${above} hides from environments`,
    { remedy: 'let it close the file, or remove that entry with the setting mask.remove' },
  )
}

/** Of a container, only the files of its own root become those of a cell. */
export function requireOnRoot(tree: readonly number[]): void {
  const mount = rootMountOf(tree[0] ?? 0)
  const outer = tree.flatMap(openFilesOf).find(({ mount: on }) => on !== null && on !== mount)
  if (outer === undefined) return
  throw new BackendError(
    `cannot adopt ${inWords(commandOf(outer.pid))}: it has ${quote(outer.path)} open, on a volume or a mount of the container`,
    {
      remedy:
        'let it close the file, or start the container without that volume; `--backend docker` or `podman` adopts it where it is',
    },
  )
}

/** tar's exit code if a file that others write to has changed meanwhile. */
const changed = 1

/** As one archive, so that nothing else about them matters later. */
export async function packFiles(
  tools: Tools,
  { workdir, files, hidden }: CopiedFiles,
  archive: string,
): Promise<void> {
  const relative = (path: string) => `.${path}`
  const names = [...(workdir === null ? [] : [workdir]), ...files].map(relative)
  const { exitCode, stderr } = await tools.run(
    'tar',
    [
      ...['--create', '--file', archive, '--directory', '/', '--numeric-owner', '--xattrs'],
      ...['--acls', '--sparse', '--one-file-system', '--anchored', '--no-wildcards'],
      ...hidden.map((path) => `--exclude=${relative(path)}`),
      ...['--null', '--files-from=-'],
    ],
    { input: names.map((name) => `${name}\0`).join('') },
  )
  if (exitCode === 0 || exitCode === changed) return
  throw new BackendError(`copying the files of the process failed: ${stderr.trim()}`, {
    remedy: 'give the directory that the process works on with --workdir',
  })
}

export function requireDirectory(workdir: string): void {
  if (workdir.startsWith('/') && !workdir.includes('\0')) return
  throw new InvalidInputError(`not an absolute path: ${quote(workdir)}`, {
    remedy: 'give the directory that the process works on with --workdir',
  })
}

/** The archive has all of the directory: what the host has there now is of another moment. */
const unpack = `
if [ -n "$1" ]; then rm -rf --one-file-system -- "$1" || exit 1; fi
exec tar --extract --file=- --directory=/ --preserve-permissions --numeric-owner --xattrs --acls`

/** Puts copied files into a cell, by its own agent. */
export async function bringFiles(
  place: EnvironmentPlaces,
  { socket }: NativeInstance,
  { workdir }: CopiedFiles,
  archive: string,
): Promise<void> {
  await using connection = new AgentConnection(await openAgentSocket(place.socket, socket))
  await greeted(connection)
  const { exitCode, stderr } = await execCommand(connection, {
    mode: 'process',
    command: ['bash', '-c', unpack, 'bash', workdir ?? ''],
    cwd: '/',
    stdin: createReadStream(archive),
  })
  if (exitCode === 0) return
  throw new BackendError(`copying files into the environment failed: ${stderr.toString().trim()}`, {
    remedy:
      'check that there is room for the working directory, or choose a smaller one with --workdir',
  })
}

export function archiveIn(stage: string): string {
  return join(stage, 'files.tar')
}

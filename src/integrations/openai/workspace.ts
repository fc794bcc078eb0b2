import { posix } from 'node:path'
import { applyDiff, type Editor, UserError } from '@openai/agents'
import type { Entry, Manifest } from '@openai/agents/sandbox'
import type { Environment } from '../../api/handles/environment.ts'

/** A file that a patch changes is read as a whole. */
const mostEditedBytes = 16 * 1024 ** 2

/** Where a path of the workspace is inside; the environment is the border, so any path may be used. */
export function resolved(manifest: Manifest, path: string): string {
  return posix.resolve(manifest.root, path)
}

/** Applies the patches of the framework. */
export function editorOf({ files }: Environment, manifest: Manifest): Editor {
  const at = (path: string) => resolved(manifest, path)
  return {
    createFile: async ({ path, diff }) => {
      await files.write(at(path), applyDiff('', diff, 'create'), { makeParents: true })
    },
    updateFile: async ({ path, diff }) => {
      const { mode, uid, gid } = await files.stat(at(path))
      const before = await files.read(at(path), { maxBytes: mostEditedBytes })
      await files.write(at(path), applyDiff(before.toString('utf8'), diff), { mode, uid, gid })
    },
    deleteFile: async ({ path }) => {
      await files.remove(at(path))
    },
  }
}

/** Puts the entries of a manifest into the workspace. */
export async function materialize(environment: Environment, manifest: Manifest): Promise<void> {
  await environment.files.mkdir(manifest.root, { parents: true })
  for (const [path, entry] of Object.entries(manifest.entries)) {
    await materializeEntry(environment, resolved(manifest, path), entry)
  }
}

export async function materializeEntry(
  environment: Environment,
  path: string,
  entry: Entry,
): Promise<void> {
  const { files } = environment
  switch (entry.type) {
    case 'file': {
      // The framework describes some entries by an index signature.
      const { content } = entry as Extract<Entry, { type: 'file' }>
      const bytes = typeof content === 'string' ? content : Buffer.from(content)
      await files.write(path, bytes, { makeParents: true })
      return
    }
    case 'dir': {
      await files.mkdir(path, { parents: true })
      const { children = {} } = entry as Extract<Entry, { type: 'dir' }>
      for (const [name, child] of Object.entries(children)) {
        await materializeEntry(environment, posix.join(path, name), child)
      }
      return
    }
    case 'local_file':
    case 'local_dir': {
      await files.mkdir(posix.dirname(path), { parents: true })
      await files.upload((entry as Extract<Entry, { type: 'local_dir' }>).src, path)
      return
    }
    default:
      throw new UserError(
        `an entry of type ${entry.type} is not supported: make it with a command, before the snapshot`,
      )
  }
}

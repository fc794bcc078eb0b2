import { fchmodSync, fchownSync, mkdirSync } from 'node:fs'
import { within } from '../../../agent/files/host-path.ts'
import { quote } from '../../../model/text/quote.ts'
import { namesOf } from '../paths.ts'
import type { ArchiveEntry, Attributes } from './entries.ts'
import { malformed } from './malformed.ts'
import { OpenLevels } from './open-levels.ts'
import { giveSecondName, isFile } from './second-name.ts'
import { giveAttributes, makeSymlink, type NewOwner, writeFile } from './write-entry.ts'

/**
 * What a directory gets once it is complete, because every new entry would change its time: the
 * attributes from the archive, or defaults if it is only a parent of an entry; nothing if it existed.
 */
type Ending = Attributes | 'default' | 'none'

const defaultMode = 0o755

/**
 * Makes the entries of an archive below a directory that nobody else writes to. It replaces nothing and
 * follows no symlink. System calls are synchronous, because each takes a few microseconds, and another
 * thread would cost a hundred times as much.
 */
export class TreeWriter implements Disposable {
  readonly #root: number
  readonly #owner: NewOwner
  readonly #levels: OpenLevels
  readonly #endings: Ending[] = []
  /** the path of the last directory, with a slash at its end; empty for the top */
  #at = ''
  #top: Attributes | null = null
  /** files that allow no more links, with the copy to link to instead */
  readonly #copies = new Map<string, string>()

  constructor(root: { readonly fd: number }, owner: NewOwner) {
    this.#root = root.fd
    this.#owner = owner
    this.#levels = new OpenLevels(root.fd)
  }

  async write(entry: ArchiveEntry): Promise<void> {
    try {
      await this.#write(entry)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') throw malformed(`${quote(entry.path)} appears twice`, error)
      if (code === 'ENOTDIR' || code === 'ELOOP') {
        throw malformed(`${quote(entry.path)} is below something that is not a directory`, error)
      }
      throw error
    }
  }

  /** Call it after the last entry. Without an entry of its own, the top gets the defaults. */
  finish(): void {
    while (this.#levels.depth > 0) this.#leave()
    this.#end(this.#root, this.#top ?? 'default')
  }

  [Symbol.dispose](): void {
    this.#levels.closeAll()
  }

  async #write(entry: ArchiveEntry): Promise<void> {
    const place = () => this.#place(entry.path)
    switch (entry.type) {
      case 'directory':
        this.#directory(entry)
        break
      case 'file':
        await writeFile(place(), entry, this.#owner)
        break
      case 'symlink':
        makeSymlink(place(), entry, this.#owner)
        break
      case 'link':
        await this.#link(entry.first, entry.path)
    }
  }

  #directory({ path, attributes }: { path: string; attributes: Attributes }): void {
    if (path === '') {
      if (this.#top !== null) throw malformed('the top appears twice')
      this.#top = attributes
      return
    }
    mkdirSync(this.#place(path), 0o700)
    this.#enter(path.slice(path.lastIndexOf('/') + 1), attributes)
  }

  async #link(first: string, path: string): Promise<void> {
    const names = namesOf(this.#copies.get(first) ?? first)
    const levels = new OpenLevels(this.#root)
    try {
      for (const name of names.slice(0, -1)) levels.enter(name)
      const file = within({ fd: levels.last() }, names.at(-1) ?? '')
      if (!isFile(file)) throw malformed(`a link leads to ${quote(first)}, which is not a file`)
      const made = await giveSecondName(file, this.#place(path))
      if (made === 'copied') this.#copies.set(first, path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT')
        throw malformed(`a link leads to ${quote(first)}, which does not exist`, error)
      throw error
    } finally {
      levels.closeAll()
    }
  }

  /** The place of an entry. Makes its parent directories first. */
  #place(path: string): Buffer {
    const names = this.#approach(path)
    for (const name of names.slice(0, -1)) this.#enter(name, this.#makeParent(name))
    return within({ fd: this.#levels.last() }, names.at(-1) ?? '')
  }

  /** Leaves directories until `path` is below the last one, and returns the names from there on. */
  #approach(path: string): string[] {
    // Most entries are below the one before. Paths are long in a deep tree, and would take seconds to split.
    if (path.startsWith(this.#at)) return namesOf(path.slice(this.#at.length))
    const names = namesOf(path)
    const shared = this.#levels.shared(names.slice(0, -1))
    while (this.#levels.depth > shared) this.#leave()
    return names.slice(shared)
  }

  #makeParent(name: string): Ending {
    try {
      mkdirSync(within({ fd: this.#levels.last() }, name), 0o700)
      return 'default'
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'none'
      throw error
    }
  }

  #enter(name: string, ending: Ending): void {
    this.#levels.enter(name)
    this.#endings.push(ending)
    this.#at += `${name}/`
  }

  #leave(): void {
    this.#end(this.#levels.last(), this.#endings.pop() ?? 'none')
    this.#levels.leave()
    this.#at = this.#at.slice(0, this.#at.lastIndexOf('/', this.#at.length - 2) + 1)
  }

  #end(fd: number, ending: Ending): void {
    if (typeof ending === 'object') giveAttributes(fd, ending, this.#owner)
    if (ending !== 'default') return
    if (typeof this.#owner === 'object') fchownSync(fd, this.#owner.uid, this.#owner.gid)
    fchmodSync(fd, defaultMode)
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeImage, encodeImage, type ImageFile } from './format/image-file.ts'

/** An image, as bytes or decoded. The other form is made when it is needed. */
interface Content {
  bytes?: Buffer
  image?: ImageFile
}

/**
 * The images of a dump as one value. Each file is read at most once, when it is first needed, and
 * synchronously: images are small and were just written, and Node's thread pool would take five times as
 * long. A change makes a new value, and nothing is written until the end (see write-images.ts). Pages
 * are the exception: they are large, and stay on disk.
 */
export class DumpImages {
  readonly directory: string
  readonly names: readonly string[]
  readonly #read: Map<string, Content>
  readonly #changed: ReadonlyMap<string, Content>

  constructor(
    directory: string,
    names: readonly string[],
    read = new Map<string, Content>(),
    changed: ReadonlyMap<string, Content> = new Map(),
  ) {
    this.directory = directory
    this.names = names
    this.#read = read
    this.#changed = changed
  }

  /** files.img, which lists the files that other images refer to by number. */
  get files(): ImageFile {
    return this.image('files.img')
  }

  has(name: string): boolean {
    return this.names.includes(name)
  }

  /** Names of this shape, such as `mm-PID.img` of every process. */
  matching(shape: RegExp): string[] {
    return this.names.filter((name) => shape.test(name))
  }

  /** Only for images that hold nothing but messages. */
  image(name: string): ImageFile {
    const content = this.#content(name)
    content.image ??= decodeImage(this.bytes(name))
    return content.image
  }

  bytes(name: string): Buffer {
    const content = this.#content(name)
    content.bytes ??= content.image
      ? encodeImage(content.image)
      : readFileSync(join(this.directory, name))
    return content.bytes
  }

  /** The images with these changes; the same value if nothing differs. */
  with(changes: Readonly<Record<string, ImageFile | Buffer>>): DumpImages {
    const others = Object.entries(changes).filter(([name, content]) => !this.#is(name, content))
    if (others.length === 0) return this
    const changed = others.map(([name, content]): [string, Content] => [
      name,
      Buffer.isBuffer(content) ? { bytes: content } : { image: content },
    ])
    const added = others.map(([name]) => name).filter((name) => !this.has(name))
    return new DumpImages(
      this.directory,
      added.length > 0 ? [...this.names, ...added] : this.names,
      this.#read,
      new Map([...this.#changed, ...changed]),
    )
  }

  /** Names of the images that differ from those in the directory. */
  get changed(): string[] {
    return [...this.#changed.keys()]
  }

  /** The same images, after all of them were written to that directory. */
  writtenTo(directory: string): DumpImages {
    return new DumpImages(directory, this.names, new Map([...this.#read, ...this.#changed]))
  }

  #is(name: string, content: ImageFile | Buffer): boolean {
    const { bytes, image } = this.#content(name)
    return content === bytes || content === image
  }

  #content(name: string): Content {
    const known = this.#changed.get(name) ?? this.#read.get(name)
    if (known) return known
    const content: Content = {}
    this.#read.set(name, content)
    return content
  }
}

/** Only the images themselves; a directory in it has those of earlier snapshots. */
export function openImages(directory: string): DumpImages {
  const entries = readdirSync(directory, { withFileTypes: true })
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  return new DumpImages(directory, names)
}

import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'

/**
 * The namespaces that a process is in and this one is not. They are held open until disposal: the
 * kernel would give their numbers to others.
 */
export class HeldNamespaces implements Disposable {
  /** as /proc shows them, `net:[4026532000]` */
  readonly names: readonly string[]
  readonly #descriptors: number[] = []

  constructor(pid: number) {
    const kinds = readdirSync(`/proc/${pid}/ns`).filter(
      (kind) => readlinkSync(`/proc/${pid}/ns/${kind}`) !== readlinkSync(`/proc/self/ns/${kind}`),
    )
    this.names = kinds.map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))
    for (const kind of kinds) this.#descriptors.push(openSync(`/proc/${pid}/ns/${kind}`, 'r'))
  }

  /** Those that contain a process. */
  inhabited(): string[] {
    const seen = new Set(readdirSync('/proc').filter(isPid).flatMap(namespacesOf))
    return this.names.filter((name) => seen.has(name))
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#descriptors) closeSync(descriptor)
  }
}

function isPid(name: string): boolean {
  return /^\d+$/.test(name)
}

/** Empty if it ends while it is read. */
function namespacesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/ns`).map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))
  } catch {
    return []
  }
}

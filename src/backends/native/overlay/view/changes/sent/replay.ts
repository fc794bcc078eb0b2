import type { Command } from './stream.ts'

/** A place in the tree as it is after some of the commands. */
interface Node {
  /** where it was before the first command; null: it was made since */
  readonly origin: string | null
  /** null: there is nothing any more, whatever there was before */
  readonly children: Map<string, Node | null>
  isTouched: boolean
  isMoved: boolean
}

/** What a stream changes, by paths from the root of the subvolume. */
export interface Replayed {
  /** everything touched, where it was before and where it is afterwards */
  readonly touched: ReadonlySet<string>
  /** what has another path now: everything below it has, too */
  readonly movedFrom: readonly string[]
  readonly movedTo: readonly string[]
}

/** A comparison that touches more is not worth following. */
const mostCommands = 100_000

/**
 * Follows commands that transform one tree into another. Their paths are those of the moment: a new
 * directory first gets a temporary name, and what is below a moved one is named by its new path.
 */
export async function replay(commands: AsyncIterable<Command>): Promise<Replayed> {
  const tree = new Tree()
  let count = 0
  for await (const command of commands) {
    count += 1
    if (count > mostCommands) throw new Error('two snapshots differ in too many places')
    tree.apply(command)
  }
  return tree.result()
}

class Tree {
  readonly #root = nodeAt('')
  readonly #touched = new Set<string>()

  apply({ kind, path, to }: Command): void {
    switch (kind) {
      case 'make':
        this.#put(path, { ...nodeAt(null), isTouched: true })
        break
      case 'touch':
        this.#find(path).isTouched = true
        break
      case 'remove':
        this.#take(path)
        break
      case 'rename': {
        const node = this.#take(path)
        node.isMoved = true
        node.isTouched = true
        this.#put(to, node)
        break
      }
    }
  }

  result(): Replayed {
    const movedFrom: string[] = []
    const movedTo: string[] = []
    const visit = (node: Node, path: string): void => {
      if (node.isTouched) this.#touched.add(path)
      if (node.isTouched && node.origin !== null) this.#touched.add(node.origin)
      if (node.isMoved && node.origin !== null && node.origin !== path) {
        movedFrom.push(node.origin)
        movedTo.push(path)
      }
      for (const [name, child] of node.children) if (child) visit(child, join(path, name))
    }
    visit(this.#root, '')
    return { touched: this.#touched, movedFrom, movedTo }
  }

  #find(path: string): Node {
    return path === '' ? this.#root : componentsOf(path).reduce(childOf, this.#root)
  }

  #put(path: string, node: Node): void {
    const [parent, name] = this.#split(path)
    parent.children.set(name, node)
  }

  /** Removes what is there. What it was is remembered, because nobody visits it later. */
  #take(path: string): Node {
    const [parent, name] = this.#split(path)
    const node = childOf(parent, name)
    parent.children.set(name, null)
    this.#touched.add(path)
    if (node.origin !== null) this.#touched.add(node.origin)
    return node
  }

  #split(path: string): [parent: Node, name: string] {
    const components = componentsOf(path)
    const name = components.pop() ?? ''
    return [components.reduce(childOf, this.#root), name]
  }
}

/** A child that no command has named yet is as it was before. */
function childOf(parent: Node, name: string): Node {
  const known = parent.children.get(name)
  if (known) return known
  const isNew = known === null || parent.origin === null
  const node = nodeAt(isNew ? null : join(parent.origin ?? '', name))
  parent.children.set(name, node)
  return node
}

function nodeAt(origin: string | null): Node {
  return { origin, children: new Map(), isTouched: false, isMoved: false }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}

function componentsOf(path: string): string[] {
  const components = path.split('/')
  if (components.some((name) => name === '' || name === '.' || name === '..')) {
    throw new Error('a comparison names a path that cannot be')
  }
  return components
}

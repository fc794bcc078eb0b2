import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import { type NativeView, viewOf } from '../../../src/backends/native/overlay/view/native-view.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { whyNot } from '../../support/probe.ts'

const program = join(import.meta.dirname, '../../../native/build/cell')

/** Why layers cannot be tested here; null if they can. */
export const whyNoLayers = !existsSync(program)
  ? `${program} is not built`
  : whyNot('unshare', '--mount', 'true')

/** Everything belongs to the same ids inside and outside: no layer of the lab is shifted. */
export const ids = { base: 0, count: 2 ** 31 }

/** Layers made the way environments make them: by working on a mounted overlay. */
export class OverlayLab implements Disposable {
  readonly dir: string
  readonly store: Store
  readonly #mounts: string[] = []
  #count = 0

  constructor() {
    const home = process.env.FORKPOINT_HOME
    if (home === undefined) throw new Error('no FORKPOINT_HOME; run the tests with vitest')
    this.dir = mkdtempSync(join(home, 'layers-'))
    this.store = openStore(this.dir)
  }

  directory(name = 'dir'): string {
    this.#count += 1
    const path = join(this.dir, `${name}-${this.#count}`)
    mkdirSync(path)
    return path
  }

  /** A base: what `work` makes in a plain directory. */
  base(work: (root: string) => void): NativeView {
    const path = this.directory('base')
    work(path)
    return viewOf([{ path, ids: 'host' }])
  }

  /** Another layer: what `work` makes in an overlay over `below`, sealed afterwards. */
  grow(below: NativeView, work: (root: string, live: NativeView) => void): NativeView {
    const upper: Layer = { path: this.directory('upper'), ids: 'cell' }
    const view = viewOf([upper, ...below.layers])
    const lower = below.layers.map(({ path }) => path).join(':')
    const options = `index=on,nfs_export=on,upperdir=${upper.path},workdir=${this.directory('work')}`
    this.mounted(`${options},lowerdir=${lower}`, (root) => work(root, view))
    return view
  }

  /** The view as the kernel shows it. */
  show<T>(view: NativeView, read: (root: string) => T): T {
    // One lower layer alone is not an overlay to the kernel; an empty one below changes nothing.
    const lower = [...view.layers.map(({ path }) => path), this.directory('empty')].join(':')
    return this.mounted(`ro,lowerdir=${lower}`, read)
  }

  /** Runs `work` with its own overlay, which is removed afterwards. */
  mounted<T>(options: string, work: (root: string) => T): T {
    using point = this.#mount(options, 'overlay')
    return work(point.path)
  }

  async mountedAsync(
    options: string,
    type: string,
    work: (root: string) => Promise<void>,
  ): Promise<void> {
    using point = this.#mount(options, type)
    await work(point.path)
  }

  #mount(options: string, type: string): Disposable & { path: string } {
    const path = this.directory('mount')
    mount(['-t', type, 'forkpoint-test', '-o', options, path])
    this.#mounts.push(path)
    return {
      path,
      [Symbol.dispose]: () => {
        execFileSync('umount', [path])
        this.#mounts.pop()
      },
    }
  }

  [Symbol.dispose](): void {
    this.store.close()
    for (const point of this.#mounts.toReversed()) spawnSync('umount', ['-l', point])
    rmSync(this.dir, { recursive: true, force: true })
  }
}

/**
 * A process that makes a mount namespace at the wrong moment, such as one that starts a cell, keeps
 * what was mounted for as long as it lives: layers are busy until then.
 */
export function mount(args: readonly string[]): void {
  const deadline = Date.now() + 20_000
  for (;;) {
    const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' })
    if (status === 0) return
    if (!/busy|already mounted/.test(stderr) || Date.now() > deadline) throw new Error(stderr)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
}

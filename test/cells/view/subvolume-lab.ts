import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type NativeView, viewOf } from '../../../src/backends/native/overlay/view/native-view.ts'
import { whyNot } from '../../support/probe.ts'
import { mount } from './overlay-lab.ts'

export const whyNoSubvolumes = whyNot(
  'sh',
  '-c',
  'command -v mkfs.btrfs && modprobe -n btrfs || grep -q btrfs /proc/filesystems',
)

/** Environments of one base whose files lie in subvolumes of a small btrfs, as environments have them. */
export class SubvolumeLab implements Disposable {
  readonly dir: string
  base: string
  readonly #files: string
  #count = 0

  constructor() {
    const home = process.env.FORKPOINT_HOME
    if (home === undefined) throw new Error('no FORKPOINT_HOME; run the tests with vitest')
    this.dir = mkdtempSync(join(home, 'subvolumes-'))
    this.base = this.newBase()
    this.#files = this.#directory('files')
    const image = join(this.dir, 'image')
    execFileSync('truncate', ['-s', '2G', image])
    execFileSync('mkfs.btrfs', ['-q', '-K', '-m', 'single', image])
    mount(['-o', 'loop,noatime', image, this.#files])
  }

  /** Starts over with other files below all environments. */
  newBase(): string {
    this.base = this.#directory(`base-${this.#count++}`)
    return this.base
  }

  #directory(name: string): string {
    const path = join(this.dir, name)
    mkdirSync(path)
    return path
  }

  /** A new environment without changes. */
  create(): string {
    const path = this.#next('live')
    execFileSync('btrfs', ['-q', 'subvolume', 'create', path])
    mkdirSync(join(path, 'upper'))
    mkdirSync(join(path, 'work'))
    return path
  }

  snapshot(from: string): string {
    const path = this.#next('snapshot')
    execFileSync('btrfs', ['-q', 'subvolume', 'snapshot', '-r', from, path])
    return path
  }

  /** A fork, with the index of its own that a mount needs. */
  fork(from: string): string {
    const path = this.#next('live')
    execFileSync('btrfs', ['-q', 'subvolume', 'snapshot', from, path])
    rmSync(join(path, 'work'), { recursive: true })
    mkdirSync(join(path, 'work'))
    return path
  }

  /** Works inside; `inside` may take snapshots. */
  work<T>(live: string, index: 'on' | 'off', inside: (root: string) => T): T {
    const own = `upperdir=${live}/upper,workdir=${live}/work,lowerdir=${this.base}`
    const link = index === 'on' ? 'index=on,nfs_export=on' : 'index=off'
    return this.#mounted(`${link},xino=on,redirect_dir=off,${own}`, inside)
  }

  /** What the kernel shows. */
  show<T>(subvolume: string, read: (root: string) => T): T {
    return this.#mounted(`ro,lowerdir=${subvolume}/upper:${this.base}`, read)
  }

  view(path: string, state: 'read-only' | 'in-use' = 'read-only'): NativeView {
    const upper = { path: join(path, 'upper'), ids: 'cell' } as const
    return { ...viewOf([upper, { path: this.base, ids: 'host' }]), subvolume: { path, state } }
  }

  #next(name: string): string {
    this.#count += 1
    return join(this.#files, `${name}-${this.#count}`)
  }

  #mounted<T>(options: string, inside: (root: string) => T): T {
    const path = this.#directory(`mount-${this.#count++}`)
    mount(['-t', 'overlay', 'forkpoint-test', '-o', options, path])
    try {
      return inside(path)
    } finally {
      execFileSync('umount', [path])
    }
  }

  [Symbol.dispose](): void {
    // Lazily: a process that starts a cell at this moment holds on to every mount for a while.
    execFileSync('umount', ['-l', this.#files])
    rmSync(this.dir, { recursive: true, force: true })
  }
}

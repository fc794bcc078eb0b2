import { currentHome } from '../../../criu/memory/generation.ts'
import { findPairs, hasPairs, pairsOf } from '../../../criu/pairs/find-pairs.ts'
import type { PairsPlace } from '../../../criu/pairs/search-since.ts'
import type { Tools } from '../../../linux/tools.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { Log } from '../../../model/log.ts'
import type { NativeImage } from '../image.ts'
import type { Places } from '../places.ts'

/** What the processes of snapshots remember about files: where that is, a copy must know before it runs. */
export class Remembered {
  readonly #tools: Tools
  readonly #places: Places
  readonly #log: Log
  /** searches under way, by the directory of the images */
  readonly #searches = new Map<string, Promise<void>>()

  constructor(tools: Tools, places: Places, log: Log) {
    this.#tools = tools
    this.#places = places
    this.#log = log
  }

  /**
   * Starts the search for a snapshot that was just taken, after that in the one before it. If it fails, whoever
   * needs it tries again.
   */
  begin(snapshot: SnapshotId, image: NativeImage, before: SnapshotId | null): void {
    this.listFor(snapshot, image, before).catch((err) => {
      this.#log.warn({ err, snapshot }, 'what its processes remember about files was not found')
    })
  }

  /** Path of the list for a restore; null if there is nothing to put right. */
  async listFor(
    snapshot: SnapshotId,
    { captured, files }: Pick<NativeImage, 'captured' | 'files'>,
    before: SnapshotId | null = null,
  ): Promise<string | null> {
    // Without a subvolume of its own, a copy has other inode numbers, too.
    if (files !== 'subvolume' || !captured.includes('processes')) return null
    const home = await currentHome(this.#places.snapshot(snapshot))
    await this.#search({ home, files: this.#places.filesIn(snapshot) }, before)
    return await pairsOf({ home })
  }

  /** Waits until nothing reads the images of a snapshot, which are about to be removed. */
  async ended(snapshot: SnapshotId): Promise<void> {
    const home = await currentHome(this.#places.snapshot(snapshot))
    // Whatever it found, nobody needs it any more.
    await this.#searches.get(home)?.catch(() => {})
  }

  #search(place: PairsPlace, before: SnapshotId | null): Promise<void> {
    const underWay = this.#searches.get(place.home)
    if (underWay) return underWay
    if (hasPairs(place)) return Promise.resolve()
    const started = this.#find(place, before).finally(() => this.#searches.delete(place.home))
    this.#searches.set(place.home, started)
    return started
  }

  async #find(place: PairsPlace, before: SnapshotId | null): Promise<void> {
    const earlier = before && (await currentHome(this.#places.snapshot(before)))
    // Where it fails, all of the memory is searched.
    if (earlier !== null) await this.#searches.get(earlier)?.catch(() => {})
    await findPairs(this.#tools, place, earlier)
  }
}

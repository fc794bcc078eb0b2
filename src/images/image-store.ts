import type { Tools } from '../linux/tools.ts'
import type { Json } from '../model/environment.ts'
import type { Log } from '../model/log.ts'
import type { ImageTool } from '../model/settings.ts'

/** Where a backend keeps the images that its environments start from. */
export interface ImageStore {
  readonly places: ImagePlaces
  readonly tools: Tools
  readonly log: Log
  readonly settings: { readonly images: { readonly tool: ImageTool } }
  /** runs `work` while no other process holds the same resource of this home */
  readonly exclusively: <T>(resource: string, what: string, work: () => Promise<T>) => Promise<T>
  /** makes the directory reachable for a new image, then runs `make` before anybody can free it again */
  open(make: () => Promise<void>): Promise<void>
  /** the same if there is anything in it already, as after a reboot */
  reopen(): Promise<void>
  /** names a full disk as the reason of a failure */
  explained<T>(work: () => Promise<T>): Promise<T>
  /** paths of the layers that a life or a snapshot of this backend is made of */
  layersIn(record: Readonly<Record<string, Json>>): readonly string[]
}

export interface ImagePlaces {
  readonly images: string
  /** part of the names of everything that is kept in engines; no other backend or home has the same */
  readonly key: string
}

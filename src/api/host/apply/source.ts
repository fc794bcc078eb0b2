import type { Readable } from 'node:stream'
import type {
  ApplicableChanges,
  ContentDigests,
  ContentPaths,
} from '../../../model/files/applicable-changes.ts'

/** Where changes come from: an environment, here or far away. */
export interface ChangeSource {
  changes(): Promise<ApplicableChanges>
  digests(paths: ContentPaths): Promise<ContentDigests>
  /** an archive of these paths inside, which keep their whole path */
  archive(paths: readonly string[]): Promise<Readable>
}

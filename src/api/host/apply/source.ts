import type { Readable } from 'node:stream'
import type {
  ApplicableChanges,
  ContentDigests,
  ContentPaths,
} from '../../../model/files/applicable-changes.ts'

import type { TargetDirectory } from './target-directory.ts'

/** Where changes come from: an environment, here or far away. */
export interface ChangeSource {
  changes(): Promise<ApplicableChanges>
  /** the side before may be what the target itself still has */
  digests(paths: ContentPaths, target: TargetDirectory): Promise<ContentDigests>
  /** an archive of these paths inside, which keep their whole path */
  archive(paths: readonly string[]): Promise<Readable>
}

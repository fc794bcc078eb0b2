import type { Lost } from '../../model/snapshot.ts'
import type { Attribute } from '../images/attributes.ts'
import type { DumpImages } from '../images/dump-images.ts'
import type { OpenEnd } from '../images/tcp/open-ends.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { lostAttributes } from './lost-attributes.ts'
import { lostConnections } from './lost-connections.ts'
import { lostWatches } from './lost-watches.ts'
import { notedLosses } from './noted-losses.ts'
import { unnamedFiles } from './unnamed-files.ts'
import { unreadable } from './unreadable.ts'

/** What was found out beside the dump. */
export interface Beside {
  readonly openEnds: readonly OpenEnd[]
  readonly attributes: readonly Attribute[]
}

/** What a copy of the processes in these images cannot have. */
export function lossesOf(
  images: DumpImages,
  verdicts: Verdicts,
  { openEnds, attributes }: Beside,
): Lost[] {
  return [
    ...lostConnections(images, verdicts, openEnds),
    ...lostWatches(images, verdicts),
    ...unreadable(attributes, verdicts),
    ...notedLosses(attributes, verdicts),
    ...unnamedFiles(images, verdicts),
    ...lostAttributes(images, verdicts),
  ]
}

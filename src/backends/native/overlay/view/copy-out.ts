import { bytesToText } from '../../../../agent/files/byte-text.ts'
import { BackendError } from '../../../../model/errors.ts'
import type { CopyOptions, CopyReport, CopySpec } from '../../../backend.ts'
import { type IdRange, layerArguments, type NativeView } from './native-view.ts'
import { parseInsidePath, relative } from './paths.ts'
import { viewCommand } from './view-command.ts'

/** There may be any number of pipes and sockets inside. */
const mostLeftOut = 1000

/** Copies files into an existing directory of the host; see native/cell/files/copy.c. */
export async function copyOut(
  view: NativeView,
  dir: string,
  specs: readonly CopySpec[],
  { owner, ids }: CopyOptions & { readonly ids: IdRange },
): Promise<CopyReport> {
  const who = owner === 'keep' ? `keep:${ids.base}:${ids.count}` : `${owner.uid}:${owner.gid}`
  const input = specs.flatMap(({ from, to }) => [relative(parseInsidePath(from)), to])
  const args = ['copy', dir, who, ...layerArguments(view)]
  const leftOut: string[] = []
  let counts: string | null = null
  let isOver = false
  for await (const text of strings(viewCommand('copying files out', args, input))) {
    if (isOver) counts = text
    else if (text === '') isOver = true
    else if (leftOut.length < mostLeftOut) leftOut.push(`/${text}`)
  }
  const [entries = '', bytes = ''] = (counts ?? '').split(' ')
  if (bytes === '') throw new BackendError('copying files out ended early')
  return { entries: Number(entries), bytes: Number(bytes), leftOut }
}

/** Strings that each end with NUL. */
async function* strings(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, at)) {
      yield bytesToText(bytes.subarray(at, end))
      at = end + 1
    }
    rest = bytes.subarray(at)
  }
}

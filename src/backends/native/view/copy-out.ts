import { bytesToText } from '../../../agent/byte-text.ts'
import { BackendError } from '../../../model/errors.ts'
import type { CopyOptions, CopyReport, CopySpec } from '../../backend.ts'
import { type IdRange, layerArguments, type NativeView } from './native-view.ts'
import { parseInsidePath, relative } from './paths.ts'
import { viewAnswer } from './view-command.ts'

/** Copies files into an existing directory of the host; see native/cell/copy.c. */
export async function copyOut(
  view: NativeView,
  dir: string,
  specs: readonly CopySpec[],
  { owner, ids }: CopyOptions & { readonly ids: IdRange },
): Promise<CopyReport> {
  const who = owner === 'keep' ? `keep:${ids.base}:${ids.count}` : `${owner.uid}:${owner.gid}`
  const input = specs.flatMap(({ from, to }) => [relative(parseInsidePath(from)), to])
  const args = ['copy', dir, who, ...layerArguments(view)]
  const strings = splitStrings(await viewAnswer('copying files out', args, input))
  const end = strings.indexOf('')
  const [entries = '', bytes = ''] = (strings[end + 1] ?? '').split(' ')
  if (end < 0 || bytes === '') throw new BackendError('copying files out ended early')
  return {
    entries: Number(entries),
    bytes: Number(bytes),
    leftOut: strings.slice(0, end).map((path) => `/${path}`),
  }
}

/** Strings that each end with NUL. */
function splitStrings(answer: Buffer): string[] {
  const strings: string[] = []
  let at = 0
  for (let end = answer.indexOf(0); end >= 0; end = answer.indexOf(0, at)) {
    strings.push(bytesToText(answer.subarray(at, end)))
    at = end + 1
  }
  return strings
}

import type { FileOwner } from '../../agent/files/files.ts'
import type { TransferOptions } from '../../agent/files/trees/transfer.ts'
import type { TerminalSize } from '../../agent/terminals/size.ts'
import { type Input, list, options, value } from './checked.ts'
import { variables } from './maps.ts'
import * as v from './values.ts'

/** The kernel's ids are 32 bits wide, and the last one means "no id". */
const id = v.whole(0, 2 ** 32 - 2)
const mode = v.whole(0, 0o7777)

/** What the kernel takes for all names and values of one file, on most file systems. */
const mostXattrBytes = 4096

const xattrs: Input<Readonly<Record<string, string>>> = value(
  `texts by names such as user.origin, at most ${mostXattrBytes} bytes together`,
  (given) => {
    if (typeof given !== 'object' || given === null) return undefined
    const entries = Object.entries(given)
    const isFit = entries.every(
      ([name, text]) => /^user\.[^=]+$/.test(name) && v.isText(name) && v.isText(text),
    )
    const size = Buffer.byteLength(entries.flat().join(''))
    return isFit && size <= mostXattrBytes ? Object.fromEntries(entries) : undefined
  },
)

const nanoseconds: Input<bigint> = value('a bigint of nanoseconds since 1970', (given) =>
  typeof given === 'bigint' && given >= -(2n ** 63n) && given < 2n ** 63n ? given : undefined,
)

export const callInput = options({ signal: v.signal })

const range = { signal: v.signal, offsetBytes: v.whole(0), lengthBytes: v.whole(0) }

export const streamInput = options(range)

export const readInput = options({ ...range, maxBytes: v.whole(0) })

export const writeInput = options({
  signal: v.signal,
  mode,
  uid: id,
  gid: id,
  mtimeNs: nanoseconds,
  makeParents: v.truth,
  how: v.oneOf('replace', 'append', 'create'),
  xattrs,
})

export const statInput = options({
  signal: v.signal,
  symlink: v.oneOf('follow', 'itself'),
  xattrs: v.truth,
})

export const listInput = options({ signal: v.signal, xattrs: v.truth })

export const mkdirInput = options({ signal: v.signal, mode, parents: v.truth })

export const removeInput = options({
  signal: v.signal,
  recursive: v.truth,
  force: v.truth,
})

const transfer = {
  signal: v.signal,
  onProgress: v.callback<NonNullable<TransferOptions['onProgress']>>(),
}

export const downloadInput = options(transfer)

const owner: Input<FileOwner> = value('{ uid, gid }, each from 0 to 4294967294', (given) => {
  const { uid, gid } = (given ?? {}) as Partial<Record<keyof FileOwner, unknown>>
  const [user, group] = [id.safeParse(uid), id.safeParse(gid)]
  return user.success && group.success ? { uid: user.data, gid: group.data } : undefined
})

export const uploadInput = options({ ...transfer, owner })

export const watchInput = options({ signal: v.signal, recursive: v.truth })

const cells = v.whole(1, 65_535)

export const terminalInput = options({
  signal: v.signal,
  cols: cells,
  rows: cells,
  argv: list('words', v.text(128 * 1024)),
  cwd: v.path,
  env: variables,
  user: v.word,
})

export const sizeInput: Input<TerminalSize> = value('{ cols, rows }, each 1 to 65535', (given) => {
  const { cols, rows } = (given ?? {}) as Partial<Record<keyof TerminalSize, unknown>>
  const [wide, high] = [cells.safeParse(cols), cells.safeParse(rows)]
  return wide.success && high.success ? { cols: wide.data, rows: high.data } : undefined
})

export const portInput = v.whole(1, 65_535)

export const forwardInput = options({
  signal: v.signal,
  host: v.word,
  listenHost: v.word,
  listenPort: v.whole(0, 65_535),
})

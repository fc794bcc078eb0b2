import { BackendError } from '../model/errors.ts'

/**
 * The protocol between this process and its spawner, as in native/cell/keeper/keeper.c. A request is four
 * 32-bit numbers (id, kind, lengths of arguments and input) followed by those bytes. An answer is four
 * numbers (id, exit status, lengths of stdout and stderr) followed by those bytes. Each argument ends with
 * NUL.
 */
const kinds = { run: 0, job: 1, prepare: 2, dismiss: 3, kill: 4, talk: 5, tell: 6 } as const
const headBytes = 16
const maxBytes = 16 * 1024 ** 2
const nothing = Buffer.alloc(0)

export interface Request {
  readonly kind: keyof typeof kinds
  /** id of a program or a job; for `prepare`, the number of workers */
  readonly id: number
  readonly words?: readonly string[]
  readonly input?: Uint8Array
}

/** How a program ended. */
export interface Ended {
  /** null if a signal ended it */
  readonly exitCode: number | null
  readonly signal: number | null
  readonly stdout: string
  readonly stderr: string
}

export function encodeRequest({ kind, id, words = [], input = nothing }: Request): Buffer {
  const args = Buffer.from(words.map((word) => `${word}\0`).join(''))
  requireShort(args)
  requireShort(input)
  const head = Buffer.alloc(headBytes)
  for (const [index, number] of [id, kinds[kind], args.length, input.length].entries()) {
    head.writeUInt32LE(number, 4 * index)
  }
  return Buffer.concat([head, args, input])
}

/** The spawner would take a longer message for garbage and end, together with all its programs. */
function requireShort({ length }: Uint8Array): void {
  if (length <= maxBytes) return
  throw new BackendError(`the arguments or the input of a program are too long: ${length} bytes`, {
    remedy: `pass at most ${maxBytes} bytes at a time`,
    detail: { length, maxBytes },
  })
}

/** Passes each complete answer to `take`; returns the rest, which is the beginning of the next one. */
export function takeAnswers(bytes: Buffer, take: (id: number, ended: Ended) => void): Buffer {
  let rest = bytes
  while (rest.length >= headBytes) {
    const outEnd = headBytes + rest.readUInt32LE(8)
    const end = outEnd + rest.readUInt32LE(12)
    if (rest.length < end) break
    const status = rest.readInt32LE(4)
    take(rest.readUInt32LE(0), {
      exitCode: status < 0 ? null : status,
      signal: status < 0 ? -status : null,
      stdout: rest.toString('utf8', headBytes, outEnd),
      stderr: rest.toString('utf8', outEnd, end),
    })
    rest = rest.subarray(end)
  }
  return rest
}

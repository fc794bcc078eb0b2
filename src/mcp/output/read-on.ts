import type { CommandOffsets, CommandResult } from '../../agent/commands/commands.ts'
import type { Command } from '../../api/handles/command.ts'
import { wholeCharacters } from './clip.ts'

type StreamName = keyof CommandOffsets
const names: readonly StreamName[] = ['stdout', 'stderr']

export interface ReadOn {
  readonly stdout: string
  readonly stderr: string
  /** where these begin: later than asked for, if older output is not kept any more */
  readonly from: CommandOffsets
  /** where a later call continues */
  readonly next: CommandOffsets
  /** null while it runs, or while there is more to read */
  readonly ended: CommandResult | null
}

/** What a command has printed, up to a limit a stream, within `waitMs`. Leaves the command afterwards. */
export async function readOn(
  command: Command,
  limitBytes: number,
  waitMs: number,
): Promise<ReadOn> {
  const from = { ...command.offsets }
  const chunks: Record<StreamName, Buffer[]> = { stdout: [], stderr: [] }
  const isFull: Record<StreamName, boolean> = { stdout: false, stderr: false }
  const read = async (name: StreamName) => {
    let bytes = 0
    for await (const chunk of command[name]) {
      chunks[name].push(chunk)
      bytes += chunk.length
      isFull[name] = bytes >= limitBytes
      if (isFull[name]) return
    }
  }
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), waitMs)
  try {
    // Output that is not taken keeps `wait` from resolving.
    const streams = Promise.all(names.map(read))
    const all = streams.then(() => (isFull.stdout || isFull.stderr ? null : command.wait()))
    const ended = await Promise.race([all, late.promise])
    all.catch(() => {})
    const texts = names.map((name) => pieceOf(Buffer.concat(chunks[name]), limitBytes, ended))
    const [stdout = nothing, stderr = nothing] = texts
    const next = { stdout: from.stdout + stdout.length, stderr: from.stderr + stderr.length }
    return { stdout: stdout.toString(), stderr: stderr.toString(), from, next, ended }
  } finally {
    clearTimeout(timer)
    command.detach()
  }
}

const nothing = Buffer.alloc(0)

/** No character is cut in two, unless the command has ended within it. */
function pieceOf(bytes: Buffer, limitBytes: number, ended: CommandResult | null): Buffer {
  const piece = bytes.subarray(0, limitBytes)
  return ended !== null && piece.length === bytes.length ? piece : wholeCharacters(piece)
}

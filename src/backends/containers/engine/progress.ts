import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { BackendError } from '../../../model/errors.ts'

const keptLines = 20

export interface Progress {
  /** the last lines that it printed */
  readonly lines: readonly string[]
  /** the image that a build made, if the engine says so in a field of its own */
  readonly imageId: string | null
}

/** Reads the JSON lines of a build or a pull to their end. An error among them is the outcome. */
export async function readProgress(response: IncomingMessage, doing: string): Promise<Progress> {
  const lines: string[] = []
  let imageId: string | null = null
  for await (const line of createInterface({ input: response })) {
    const event = parse(line)
    const text = event.stream ?? event.status
    if (text?.trim()) lines.push(text.trim())
    if (lines.length > keptLines) lines.shift()
    imageId = event.aux?.ID ?? imageId
    if (event.error !== undefined) throw failed(doing, event.error, lines)
  }
  return { lines, imageId }
}

interface ProgressEvent {
  readonly stream?: string
  readonly status?: string
  readonly error?: string
  readonly aux?: { readonly ID?: string }
}

function parse(line: string): ProgressEvent {
  const value: unknown = line.trim() === '' ? {} : JSON.parse(line)
  return typeof value === 'object' && value !== null ? value : {}
}

function failed(doing: string, error: string, lines: readonly string[]): BackendError {
  return new BackendError(`${doing} failed: ${error.trim().slice(0, 2000)}`, {
    remedy: `make it work with the engine's own client first`,
    lastWords: lines.join('\n'),
  })
}

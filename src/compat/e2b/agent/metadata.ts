import type { FastifyRequest } from 'fastify'
import type { Xattrs } from '../../../agent/files/files.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'

/** What a client notes about a file: extended attributes of the file, below this prefix. */
export type Metadata = Readonly<Record<string, string>>

const prefix = 'user.e2b.'
const header = 'x-metadata-'
/** The kernel's limit on a name, without the prefix. */
const longestKey = 255 - prefix.length
/** As with E2B: names with the prefix, and values. */
const mostBytes = 4096

/** From the headers of an upload. Their names are in lower case, and the first of several counts. */
export function sentMetadata({ raw }: Pick<FastifyRequest, 'raw'>): Metadata {
  const entries = Object.entries(raw.headersDistinct).flatMap(([name, values]) => {
    const value = values?.[0]
    const isMetadata = name.startsWith(header) && value !== undefined
    return isMetadata ? [[name.slice(header.length), value] as const] : []
  })
  const size = entries.flat().join('').length + entries.length * prefix.length
  const wrong = entries.find(([key, value]) => !isKey(key) || !/^[ -~]*$/.test(value))
  if (wrong !== undefined || size > mostBytes) {
    const what = wrong === undefined ? `${size} bytes` : `the key ${quote(wrong[0])}`
    throw new InvalidInputError(`the metadata of a file cannot be kept: ${what}`, {
      remedy: `use printable ASCII, keys of at most ${longestKey} bytes, and ${mostBytes} bytes altogether`,
    })
  }
  return Object.fromEntries(entries)
}

function isKey(key: string): boolean {
  return /^[!-~]+$/.test(key) && !key.includes('=') && key.length <= longestKey
}

export function xattrsOf(metadata: Metadata): Xattrs {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [prefix + key, value]))
}

export function metadataIn(xattrs: Xattrs = {}): Metadata {
  const own = Object.entries(xattrs).filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]))
}

/** What an answer has of it. */
export function shownMetadata(metadata: Metadata): { readonly metadata?: Metadata } {
  return Object.keys(metadata).length === 0 ? {} : { metadata }
}

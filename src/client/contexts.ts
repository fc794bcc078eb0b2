import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { userConfigDir, type Variables } from '../config/files.ts'
import { InvalidInputError, NotFoundError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'

const context = z.object({
  host: z.string(),
  token: z.exactOptional(z.string()),
  /** a file with certificates to trust */
  ca: z.exactOptional(z.string()),
})

/** A daemon that a user works with. */
export type HostContext = z.infer<typeof context>

const file = z.object({
  current: z.nullable(z.string()),
  contexts: z.record(z.string(), context),
})

export type Contexts = z.infer<typeof file>

export function contextsPath(env: Variables): string {
  return join(userConfigDir(env), 'forkpoint/contexts.json')
}

export function readContexts(path: string): Contexts {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') {
      return { current: null, contexts: {} }
    }
    throw error
  }
  try {
    return file.parse(JSON.parse(text))
  } catch (cause) {
    throw new InvalidInputError(`${quote(path)} is not a file of contexts`, {
      remedy: 'remove it, and add the contexts again with `forkpoint context add`',
      cause,
    })
  }
}

/** It holds tokens, so nobody else may read it. */
export function writeContexts(path: string, contexts: Contexts): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

export function requireContext({ contexts }: Contexts, name: string): HostContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (found !== undefined) return found
  throw new NotFoundError(`no context ${quote(name)}`, {
    remedy: '`forkpoint context ls` lists them',
  })
}

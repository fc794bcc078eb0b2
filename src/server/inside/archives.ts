import { posix } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from '../../api/handles/command.ts'
import type { Environment } from '../../api/handles/environment.ts'
import { BackendError, ConflictError } from '../../model/errors.ts'

const shownBytes = 2000

/** A tar archive of a path, made by the environment's own tar. */
export async function packed(environment: Environment, path: string): Promise<Readable> {
  const { dir, base } = posix.parse(posix.normalize(path))
  // Fails before the answer begins if there is no such file.
  await environment.files.stat(path, { symlink: 'itself' })
  const words = ['tar', '-C', dir, '-c', '--', base === '' ? '.' : base]
  const tar = await environment.spawn(words, { mode: 'process' })
  return Readable.from(outputOf(tar), { objectMode: false })
}

async function* outputOf(tar: Command): AsyncGenerator<Buffer, void, undefined> {
  const said = lastWords(tar)
  try {
    yield* tar.stdout
    await requireSuccess(tar, said)
  } finally {
    tar.detach()
  }
}

/** Unpacks an archive below an existing directory. */
export async function unpack(
  environment: Environment,
  path: string,
  archive: AsyncIterable<Buffer>,
): Promise<void> {
  const words = ['tar', '-C', path, '-x']
  const tar = await environment.spawn(words, { mode: 'process', stdin: 'streamed' })
  tar.stdout.discard()
  const said = lastWords(tar)
  try {
    for await (const chunk of archive) await tar.writeStdin(chunk)
    await tar.endStdin()
  } catch (error) {
    // It ended without reading everything; its own words say why.
    if (!(error instanceof ConflictError)) throw error
  }
  await requireSuccess(tar, said)
}

async function lastWords(tar: Command): Promise<string> {
  let text = ''
  for await (const chunk of tar.stderr) text = `${text}${chunk}`.slice(-shownBytes)
  return text
}

async function requireSuccess(tar: Command, said: Promise<string>): Promise<void> {
  const [{ exitCode }, words] = await Promise.all([tar.wait(), said])
  if (exitCode === 0) return
  throw new ConflictError(`tar inside ended with exit code ${exitCode}: ${words.trim()}`, {
    remedy: 'check the path and the archive, and that the environment has tar',
    cause: new BackendError(words),
  })
}

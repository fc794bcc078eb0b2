import { lstat } from 'node:fs/promises'
import { basename, join, posix, resolve } from 'node:path'
import { Option } from 'commander'
import type { Environment } from '../../../index.ts'
import { NotFoundError } from '../../../model/errors.ts'
import { counted } from '../../../model/text/counted.ts'
import { type CopyRequest, parseCopy } from '../../arguments/copy-paths.ts'
import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { bytesBelow, LateTotal } from '../../waiting/late-total.ts'
import { say } from '../../write.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Copy a file or a directory in or out. If the destination is a directory, the copy goes into it.',
      )
      .addOption(new Option('-r, --recursive').hideHelp())
      .argument('<src>', 'a path, or ENV:/path')
      .argument('<dst>', 'a path, or ENV:/path')
      .action((source: string, target: string, _options, self) =>
        cli.perform(self, async (context) => {
          const request = parseCopy(source, target)
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(request.env)
          const total = new LateTotal(() => totalBytes(environment, request))
          const done = await context.wait(`copying ${source}`, (say) =>
            copy(environment, request, {
              signal: interrupts.signal,
              onProgress: ({ files, bytes }) =>
                say(
                  files === 0
                    ? `copying ${source}`
                    : `copying ${source}: ${counted(files, 'file')}`,
                  {
                    doneBytes: bytes,
                    totalBytes: total.bytes(),
                  },
                ),
            }),
          )
          await context.show({ json: done, text: () => '' })
          if (context.globals.json || done.skipped.length === 0) return
          const what = `skipped ${done.skipped.length} sockets, pipes or devices`
          await say(context.streams.stderr, `forkpoint: ${what}: ${done.skipped[0]} …\n`)
        }),
      ),
    [
      ['forkpoint cp ./app web:/srv/', 'copy a directory in, as /srv/app'],
      ['forkpoint cp web:/var/log/app.log .', 'copy a file out'],
    ],
  )

type Progress = NonNullable<Parameters<Environment['files']['upload']>[2]>

async function copy(environment: Environment, request: CopyRequest, progress: Progress) {
  const { files } = environment
  if (request.direction === 'in') {
    const inside = await insideTarget(environment, request)
    return { inside, ...(await files.upload(request.host, inside, progress)) }
  }
  const host = await hostTarget(request)
  return { host, ...(await files.download(request.inside, host, progress)) }
}

/** Null if nobody can tell: an image may have no `du`. */
async function totalBytes(environment: Environment, request: CopyRequest): Promise<number | null> {
  if (request.direction === 'in') return await bytesBelow(resolve(request.host))
  const words = ['du', '-sb', '--', request.inside]
  const { exitCode, stdout } = await environment.exec(words, { mode: 'process' })
  const bytes = Number(stdout.split('\t')[0])
  return exitCode === 0 && Number.isSafeInteger(bytes) ? bytes : null
}

/** The engine names the copy itself; `cp` puts it into a directory that exists. */
async function insideTarget({ files }: Environment, request: CopyRequest): Promise<string> {
  const name = basename(resolve(request.host))
  if (request.inside.endsWith('/')) return posix.join(request.inside, name)
  try {
    const { type } = await files.stat(request.inside)
    return type === 'directory' ? posix.join(request.inside, name) : request.inside
  } catch (error) {
    if (error instanceof NotFoundError) return request.inside
    throw error
  }
}

async function hostTarget(request: CopyRequest): Promise<string> {
  const name = posix.basename(posix.resolve('/', request.inside))
  // If it cannot be read, the copy itself will report that.
  const existing = await lstat(request.host).catch(() => undefined)
  const isDirectory = existing?.isDirectory() === true || request.host.endsWith('/')
  return isDirectory ? join(request.host, name) : request.host
}

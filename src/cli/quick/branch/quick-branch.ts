import { toJson } from '../../../model/errors.ts'
import { Interrupted, signalExitCode } from '../../interrupts.ts'
import type { PlainReport } from '../../render/branch-reports.ts'
import { withProgress } from '../../render/layout/progress.ts'
import { isClosedPipe, say, writeJson } from '../../write.ts'
import type { Ending } from '../ending.ts'
import { plainSocket } from '../plain-socket.ts'
import { fork } from './fork.ts'
import { type PlainWords, plainWords } from './plain-words.ts'
import { quickLink } from './quick-link.ts'
import type { Prepared, QuickVerb } from './quick-verb.ts'
import { restore } from './restore.ts'
import { snapshot } from './snapshot.ts'

const verbs: ReadonlyMap<unknown, QuickVerb> = new Map([
  ['fork', fork],
  ['restore', restore],
  ['snapshot', snapshot],
])

/**
 * The verbs that branch, in their plain forms, through the daemon of the home: two requests in a row. Null if
 * anything is out of the ordinary; then nothing has happened, and the whole command line takes over.
 */
export async function quickBranch([name, ...words]: readonly string[]): Promise<Ending | null> {
  const verb = verbs.get(name)
  const given = verb && plainWords(words, verb.options)
  const socket = plainSocket()
  if (!verb || !given || socket === null) return null
  // The whole command line finds the same, and reports it.
  const prepared = await verb.prepare(quickLink(socket), given).catch(() => null)
  return prepared && (await carriedOut(prepared, given))
}

async function carriedOut({ doing, carryOut }: Prepared, given: PlainWords): Promise<Ending> {
  const { stdout, stderr } = process
  // The writer gets the error of a failed write; without a listener it would also end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  try {
    const { report, errors } = await withProgress(stderr, doing, carryOut)
    await show(report, given)
    return errors.length === 0 ? 0 : { errors }
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode
    if (isClosedPipe(error)) return signalExitCode('SIGPIPE')
    return toJson(error)
  }
}

async function show({ json, text }: PlainReport, { flags }: PlainWords): Promise<void> {
  const { stdout } = process
  if (flags.has('json')) return await writeJson(stdout, json)
  await say(stdout, `${text()}\n`)
}

import { join } from 'node:path'
import type { EnvManager } from '../../index.ts'
import { ConflictError, toJson } from '../../model/errors.ts'
import { loadGlobalSettings } from '../arguments/globals.ts'
import type { Context } from '../context.ts'
import { plain, type Style, styleFor } from '../render/layout/style.ts'
import { say } from '../write.ts'
import { completionsOf } from './complete.ts'
import { readHistory, writeHistory } from './history-file.ts'
import { type LineSource, readLines } from './read-lines.ts'
import { ReplSession } from './repl-session.ts'

/** One line of a session, for `--json`. */
interface Transcript {
  readonly line: string
  readonly output?: string
  readonly error?: ReturnType<typeof toJson>
}

/** Reads lines and does what they say until `exit` or their end; resolves to what happened. */
export async function runRepl(
  context: Context,
  manager: EnvManager,
  signal: AbortSignal,
): Promise<readonly Transcript[]> {
  const { stdout } = context.streams
  const isTerminal = process.stdin.isTTY === true && stdout.isTTY === true
  const style = context.globals.json ? plain : styleFor(stdout, context.globals)
  const session = new ReplSession(manager, style)
  const historyPath = join(loadGlobalSettings(context.globals).settings.home, 'repl-history')
  using lines = readLines(process.stdin, stdout, {
    isTerminal,
    history: isTerminal ? await readHistory(historyPath) : [],
    complete: async (line) => completionsOf(line, await completable(manager)),
  })
  signal.addEventListener('abort', () => lines[Symbol.dispose](), { once: true })
  const transcript = await converse(context, session, lines, style)
  if (isTerminal) await writeHistory(historyPath, lines.history)
  return transcript
}

async function converse(
  context: Context,
  session: ReplSession,
  lines: LineSource,
  style: Style,
): Promise<Transcript[]> {
  const transcript: Transcript[] = []
  for (;;) {
    const line = await lines.next(`${style.good('forkpoint')} (${session.manager.currentBranch})> `)
    if (line === null) return transcript
    const controller = new AbortController()
    lines.onInterrupt(() => controller.abort())
    try {
      const { text, isOver } = await session.run(line, controller.signal)
      transcript.push({ line, output: text })
      if (text !== '' && !context.globals.json) await say(context.streams.stdout, `${text}\n`)
      if (isOver) return transcript
    } catch (error) {
      const shown = controller.signal.aborted ? interrupted(line) : error
      transcript.push({ line, error: toJson(shown) })
      if (!context.globals.json) await context.report(shown)
    }
  }
}

function interrupted(line: string): ConflictError {
  return new ConflictError(`interrupted: ${line}`, { remedy: 'run it again' })
}

async function completable(manager: EnvManager) {
  const snapshots = await manager.listSnapshots()
  const branches = await manager.listBranches()
  return {
    snapshots: snapshots.flatMap(({ id, name }) => (name === null ? [id] : [id, name])),
    branches: branches.map(({ id }) => id),
  }
}

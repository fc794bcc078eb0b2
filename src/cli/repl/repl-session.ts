import type { EnvManager } from '../../index.ts'
import { formatHistory, formatStats, formatStorage } from '../../index.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { printable } from '../../model/text/printable.ts'
import type { Style } from '../render/layout/style.ts'
import { table } from '../render/layout/table.ts'
import { type CmdHeading, parseLine, type ReplCommand } from './parse-line.ts'

type Run = (session: ReplSession, words: readonly string[]) => Promise<string>

interface Entry {
  readonly usage: string
  readonly summary: string
  readonly run: Run
}

/** What one line did. */
export interface LineOutcome {
  /** what to print, without the last line end */
  readonly text: string
  /** whether the session is over */
  readonly isOver: boolean
}

/** An interactive session: one manager, and what `set` changed. */
export class ReplSession {
  readonly manager: EnvManager
  readonly style: Style
  heading: CmdHeading = 'on'

  constructor(manager: EnvManager, style: Style) {
    this.manager = manager
    this.style = style
  }

  /** Does what a line says. Throws if it cannot. */
  async run(line: string, signal?: AbortSignal): Promise<LineOutcome> {
    const parsed = parseLine(line, this.heading)
    if (parsed.kind === 'nothing') return { text: '', isOver: false }
    if (parsed.kind === 'exec')
      return { text: await this.#exec(parsed.text, signal), isOver: false }
    const text = await entries[parsed.command].run(this, parsed.words)
    return { text, isOver: parsed.command === 'exit' }
  }

  async #exec(command: string, signal: AbortSignal | undefined): Promise<string> {
    const options = signal === undefined ? {} : { signal }
    const {
      stdout,
      stderr,
      exitCode,
      signal: ended,
    } = await this.manager.execCommand(command, options)
    const parts = [withoutLastEnd(stdout), this.style.doubtful(withoutLastEnd(stderr))]
    if (exitCode !== 0) parts.push(this.style.bad(`ended with ${exitCode ?? ended}`))
    return parts.filter((part) => part !== '').join('\n')
  }
}

const entries: Readonly<Record<ReplCommand, Entry>> = {
  snapshot: {
    usage: 'snapshot [NAME]',
    summary: 'take a snapshot of the current branch',
    run: async ({ manager }, words) => {
      const [name] = take('snapshot', words, 0, 1)
      const { id, kind, forced } = await manager.takeSnapshot(name === undefined ? {} : { name })
      const why = forced === null ? '' : `: ${forced}`
      return `took snapshot ${id} (${kind}${why})`
    },
  },
  restore: {
    usage: 'restore SNAPSHOT',
    summary: 'return the current branch to a snapshot',
    run: async ({ manager }, words) => {
      const [snapshot = ''] = take('restore', words, 1)
      await manager.restore(snapshot)
      return `restored ${manager.currentBranch} to ${printable(snapshot)}`
    },
  },
  step: {
    usage: 'step',
    summary: 'take a snapshot and restore it at once',
    run: async ({ manager }, words) => {
      take('step', words, 0)
      const id = await manager.snapshot()
      await manager.restore(id)
      return `stepped to ${id}`
    },
  },
  fork: {
    usage: 'fork BRANCH SNAPSHOT',
    summary: 'make a branch of a snapshot',
    run: async ({ manager }, words) => {
      const [branch = '', snapshot = ''] = take('fork', words, 2)
      await manager.fork(snapshot, 1, [branch])
      return `forked ${printable(snapshot)} into ${printable(branch)}`
    },
  },
  checkout: {
    usage: 'checkout BRANCH',
    summary: 'make another branch the current one',
    run: async ({ manager }, words) => {
      const [branch = ''] = take('checkout', words, 1)
      manager.checkout(branch)
      return `on branch ${printable(branch)}`
    },
  },
  branches: {
    usage: 'branches',
    summary: 'list the branches',
    run: async ({ manager, style }, words) => {
      take('branches', words, 0)
      const columns = [
        { title: '', cell: ({ current }: Row) => (current ? '*' : ' ') },
        { title: 'BRANCH', cell: ({ id }: Row) => id, paint: style.strong },
        { title: 'HEAD', cell: ({ base }: Row) => base ?? '-' },
        { title: 'ENVIRONMENT', cell: ({ environment }: Row) => environment },
        { title: 'STATUS', cell: ({ status }: Row) => status },
      ]
      return table(columns, await manager.listBranches(), style)
    },
  },
  park: {
    usage: 'park BRANCH',
    summary: 'take a snapshot of a branch and end it',
    run: async ({ manager }, words) => {
      const [branch = ''] = take('park', words, 1)
      return `parked ${printable(branch)} as ${await manager.parkBranch(branch)}`
    },
  },
  discard: {
    usage: 'discard BRANCH',
    summary: 'end a branch without a snapshot',
    run: async ({ manager }, words) => {
      const [branch = ''] = take('discard', words, 1)
      await manager.discardBranch(branch)
      return `discarded ${printable(branch)}`
    },
  },
  cmd: {
    usage: 'cmd COMMAND …',
    summary: 'run a command line in the current branch',
    // Lines with a command are told apart before they get here.
    run: async () => '',
  },
  tree: {
    usage: 'tree',
    summary: 'show the snapshots as a tree (● physical, ○ virtual)',
    run: async ({ manager, style }, words) => {
      take('tree', words, 0)
      return await manager.printSnapshotTree({
        name: style.strong,
        faint: style.faint,
        branch: style.good,
      })
    },
  },
  stats: {
    usage: 'stats',
    summary: 'show times and sizes: mean, median, min, max, p95',
    run: async ({ manager }, words) => {
      take('stats', words, 0)
      return formatStats(await manager.stats())
    },
  },
  history: {
    usage: 'history',
    summary: 'show every operation with its time',
    run: async ({ manager }, words) => {
      take('history', words, 0)
      return formatHistory(manager.history)
    },
  },
  storage: {
    usage: 'storage',
    summary: 'show what each snapshot takes on disk',
    run: async ({ manager }, words) => {
      take('storage', words, 0)
      return formatStorage(await manager.listSnapshots())
    },
  },
  set: {
    usage: 'set cmd on|off',
    summary: 'off: other lines run inside without `cmd`',
    run: async (session, words) => {
      const [what, value] = words
      if (words.length !== 2 || what !== 'cmd' || (value !== 'on' && value !== 'off')) {
        throw misused('set')
      }
      session.heading = value
      return value === 'on' ? '`cmd` is needed again' : 'other lines now run inside'
    },
  },
  help: {
    usage: 'help',
    summary: 'show this list',
    run: async ({ style }) => {
      const widest = Math.max(...Object.values(entries).map(({ usage }) => usage.length))
      return Object.values(entries)
        .map(({ usage, summary }) => `  ${style.strong(usage.padEnd(widest))}  ${summary}`)
        .join('\n')
    },
  },
  exit: {
    usage: 'exit',
    summary: 'remove everything and leave; also Ctrl-D',
    run: async (_, words) => {
      take('exit', words, 0)
      return ''
    },
  },
}

type Row = Awaited<ReturnType<EnvManager['listBranches']>>[number]

/** The words of a command; throws its usage if there are too few or too many. */
function take(
  command: ReplCommand,
  words: readonly string[],
  least: number,
  most = least,
): readonly string[] {
  if (words.length >= least && words.length <= most) return words
  throw misused(command)
}

function misused(command: ReplCommand): InvalidInputError {
  return new InvalidInputError(`wrong words after ${command}`, {
    remedy: `write it as: ${entries[command].usage}`,
  })
}

function withoutLastEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

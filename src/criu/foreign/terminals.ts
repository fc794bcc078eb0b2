import { readdirSync } from 'node:fs'
import { commandOf, inWords } from '../../linux/command-line.ts'
import { BackendError } from '../../model/errors.ts'
import { linkOf } from './process.ts'

const terminal = /^\/dev\/(pts\/\d+|tty\w*|console)$/

export const withoutTerminal =
  'start it without a terminal, such as `setsid COMMAND < /dev/null > log 2>&1 &`, and attach again'

/** A terminal has another end, in a program that is not captured. */
export function requireNoTerminal(tree: readonly number[], remedy: string = withoutTerminal): void {
  for (const pid of tree) {
    const name = linksOf(pid).find((link) => terminal.test(link))
    if (name === undefined) continue
    throw new BackendError(
      `cannot capture ${inWords(commandOf(pid))}: it has the terminal ${name}, whose other end is another program`,
      { remedy, detail: { pid, terminal: name } },
    )
  }
}

/** Where the descriptors of a process lead; none if it has ended. */
export function linksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? [])
  } catch {
    // It has ended.
    return []
  }
}

/** Why CRIU refused an environment: which process, what it has, and what to do about it. */
export interface Refusal {
  /** as the host sees it; null if the log does not say */
  readonly pid: number | null
  readonly object: string
  readonly remedy: string
  /** whether the next try may well succeed */
  readonly passing?: boolean
}

const closeIt = 'close it or end that process, then try again; `--mode filesystem` needs neither'

/** What CRIU's own words mean, most telling first. */
const meanings: readonly [RegExp, (match: RegExpExecArray) => Omit<Refusal, 'pid'>][] = [
  [/anon_inode:\[io_uring\]/, () => ({ object: 'an io_uring', remedy: closeIt })],
  [/\(anon anon_inode:\[?([\w-]+)\]?\)/, ([, kind]) => ({ object: `a ${kind}`, remedy: closeIt })],
  [
    /Unknown socket collected \(family (\d+)\)/,
    ([, family]) => ({ object: `a socket of address family ${family}`, remedy: closeIt }),
  ],
  [
    /Unix socket \d+ not found|in-flight socket|Can't dump half of stream unix|external socket/i,
    () => ({
      object: 'a Unix socket whose other end is outside the environment',
      remedy: 'a Forkpoint command was just attaching; try again',
      passing: true,
    }),
  ],
  [
    /tty: ctty inheritance detected/,
    () => ({
      object: 'its terminal open as /dev/tty, while the one it got it from has it, too',
      remedy: 'a program was just starting there; try again, or end it',
      passing: true,
    }),
  ],
  [
    /Can't lookup mount=\d+ for fd=(-?\d+) path=(.*)/,
    ([, fd, path]) => ({
      object: `descriptor ${fd}, ${path}, which is on no mount of the environment`,
      remedy: closeIt,
    }),
  ],
  [
    /Can't dump ghost file (\S*).* size, increase limit/,
    ([, path]) => ({
      object: `the deleted but open file ${path}, which is larger than 64 MiB`,
      remedy: 'close it, or make it smaller',
    }),
  ],
  [
    /OOM storing pipe/,
    () => ({
      object: 'more than 1,024 pipes and FIFOs, which CRIU cannot dump',
      remedy:
        'close some of them, or end processes that have them; `--mode filesystem` needs neither',
    }),
  ],
  [
    /Can't dump file (-?\d+) of that type \[(\d+)\]/,
    ([, fd, mode]) => ({ object: `descriptor ${fd} of type ${mode}`, remedy: closeIt }),
  ],
]

/** Reads the end of CRIU's dump log; null if it says nothing that is understood. */
export function explainDump(log: string): Refusal | null {
  const pid = /Dump \w+ \(pid: (\d+)\) failed/.exec(log)?.[1]
  for (const [words, meaning] of meanings) {
    const match = words.exec(log)
    if (match) return { pid: pid === undefined ? null : Number(pid), ...meaning(match) }
  }
  return null
}

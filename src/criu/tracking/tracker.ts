import type { Tools } from '../../linux/tools.ts'
/** A life that continues after its dump, as the tracker sees it. */
export interface TrackedLife {
  /** its own directory on the host, where the holder listens */
  readonly directory: string
  /** the agent, by its pid on the host */
  readonly agent: number
  /** the snapshot whose dump was just made, or another name for this moment */
  readonly since: string
  readonly how: 'written' | 'remapped'
}

/** What follows the word that lets a frozen life continue, see native/cell/waits/verb.c. */
export function trackingWords({ directory, agent, since, how }: TrackedLife): string {
  const second = how === 'remapped' ? '\nremapped' : ''
  return ` ${agent} ${since} ${directory}${second}`
}

/** Tracks the writes of processes that may run. What they wrote before is then no longer known. */
export async function armWhileRunning(tools: Tools, { directory }: TrackedLife): Promise<void> {
  await tools.runCell('tracking writes', ['arm', directory])
}

/** Processes whose writes since a moment are known: the host's pids, and how many bytes each has written. */
export async function trackedSince(
  tools: Tools,
  directory: string,
  since: string,
): Promise<ReadonlyMap<number, number>> {
  const said = await tools.runCell('asking what is tracked', ['tracked', directory, since])
  const lines = said.split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => {
      const [pid = 0, bytes = 0] = line.split(' ').map(Number)
      return [pid, bytes]
    }),
  )
}

/** Why this kernel cannot track writes; null if it can. */
export async function whyNotTrackable(tools: Tools): Promise<string | null> {
  const said = await tools.runCell('asking whether writes can be tracked', ['trackable'])
  return said.trim() || null
}

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { path } from '../engine/client.ts'
import type { Room } from '../room.ts'

const processes = z.object({ Processes: z.nullable(z.array(z.array(z.string()))) })
const pollMs = 10
const longestWaitMs = 3000

/** A relay that is still ending belongs to no process inside, and CRIU would refuse to dump it. */
export async function relaysEnded({ client, kind }: Room, container: string): Promise<void> {
  const call = {
    method: 'GET',
    path: path`/containers/${container}/top`,
    // Docker asks the host's ps, Podman reads /proc itself.
    query: { ps_args: kind.engine === 'docker' ? '-eo pid,args' : 'args' },
  } as const
  for (const deadline = performance.now() + longestWaitMs; ; await sleep(pollMs)) {
    const { Processes } = await client().json(processes, call)
    // Code inside can look like one for ever; then the dump says what is wrong.
    const isOver = performance.now() > deadline
    const isRelay = (words: readonly string[]) => words.some((each) => each.includes(' --relay '))
    if (isOver || !Processes?.some(isRelay)) return
  }
}

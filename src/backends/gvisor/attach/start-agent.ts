import { dirname } from 'node:path'
import * as z from 'zod/mini'
import { agentInside, capabilities, socketInside } from '../bundle.ts'
import type { Gvisor } from '../gvisor.ts'
import type { Adopted } from '../instance.ts'
import type { LifePlaces } from '../places.ts'

const described = z.object({
  process: z.object({ env: z.nullish(z.array(z.string())) }),
})

/** Starts an agent beside the program of a container. It detaches, so that no relay stays open. */
export async function startAgent(
  { runsc }: Gvisor,
  { container }: LifePlaces,
  { spec }: Adopted,
): Promise<void> {
  const { env } = described.parse(JSON.parse(spec)).process
  await runsc.ask(
    `starting an agent in ${container}`,
    'exec',
    ...capabilities.flatMap((name) => ['--cap', name]),
    ...['--user', '0:0', '--cwd', '/', container, agentInside, '--detach', dirname(socketInside)],
    ...(env ?? []).flatMap((variable) => ['--env', variable]),
  )
}

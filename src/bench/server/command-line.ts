import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint } from '../../index.ts'
import { BenchHome } from '../homes/bench-home.ts'
import { timed } from '../recorder.ts'
import { BenchDaemon, launcher } from './daemon.ts'

const commands = {
  node: [process.execPath, '-e', '0'],
  exec: [launcher, 'exec', 'bench', '--', 'true'],
  fork: [launcher, 'fork', 'ready', '-q'],
  restore: [launcher, 'restore', 'bench', 'ready'],
} as const

type Command = keyof typeof commands

/** Milliseconds from the start of a command to its end; `node`: one that does nothing. */
export type CommandTimes = Readonly<Record<Command, readonly number[]>>

/** An operation is followed by more than new spares: the old life ends, for example. */
const restMs = 500

/** How long commands take through a daemon that has a spare for each of them. */
export async function measureCommands(rounds: number): Promise<CommandTimes> {
  await using home = new BenchHome({})
  await home.openCold()
  await using daemon = new BenchDaemon(home.path)
  await daemon.start()
  await using fp = await Forkpoint.connect({ socket: daemon.socket })
  const bench = await fp.create({ name: 'bench' })
  await bench.snapshot({ name: 'ready' })
  const env = { ...process.env, FORKPOINT_HOME: home.path }
  const timeOf = async (command: readonly [string, ...string[]]) => {
    await fp.sparesReady()
    await sleep(restMs)
    return (await timed(() => run(command, env))).ms
  }
  const times: Record<Command, number[]> = { node: [], exec: [], fork: [], restore: [] }
  // The first of each loads files that the others find in memory. It is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of Object.keys(times) as Command[]) {
      const ms = await timeOf(commands[name])
      if (round > 0) times[name].push(ms)
    }
    const forks = (await fp.list()).filter(({ id }) => id !== bench.id)
    await Promise.all(forks.map((fork) => fork.remove({ force: true })))
  }
  await bench.remove({ force: true })
  return times
}

/** Without stdin: a command that could read would follow another path. */
async function run(
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [exitCode] = await once(child, 'exit')
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${exitCode}`)
}

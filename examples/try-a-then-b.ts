// The loop of an agent, written once for every backend: prepare, export, take a snapshot, try A, restore, try B.
// The first argument says how the environment is made, as JSON:
//   node try-a-then-b.ts '{"method":"docker_build","dockerfileDir":"./task"}'
import { createEnvManager, type EnvManagerOptions } from 'forkpoint'

const options: EnvManagerOptions = JSON.parse(process.argv[2] ?? '{"method":"waypoint_build"}')
const env = await createEnvManager(options)

/** Runs a command that must succeed; its output, on one line. */
async function run(command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await env.execCommand(command)
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${stderr}`)
  return stdout.trim().replaceAll('\n', ' ')
}

try {
  await run('mkdir task && cd task && for n in 5 3 9; do echo $n; done > data')
  await run('export MODE=debug; show() { cat data; echo $MODE; }')

  const ready = await env.snapshot()
  console.log('A:', await run('echo 7 >> data; export MODE=changed; show'))
  await env.restore(ready)
  console.log('B:', await run('echo 1 >> data; show'))
} finally {
  await env.cleanup()
}

// → A: 5 3 9 7 changed
// → B: 5 3 9 1 debug

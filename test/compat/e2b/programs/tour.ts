// Visits every method of one version of the client, and prints what became of each, one JSON line each.
import { commandStops } from '../tour/commands.ts'
import { fileStops, gitStops } from '../tour/files.ts'
import { lastStops, sandboxStops } from '../tour/sandboxes.ts'
import { type Tour, visit } from '../tour/tour.ts'

const [client = 'e2b', part] = process.argv.slice(2)
const e2b = (await import(client)) as typeof import('e2b')
const sandbox = await e2b.Sandbox.create({
  metadata: { tour: client },
  envs: { GREETING: 'hello' },
  timeoutMs: 900_000,
})
// The host's own profile may take locks that outlive a command that is killed: pyenv then waits for a minute.
await sandbox.files.write('/root/.bash_profile', '')
const kept = new Map<string, unknown>([['name', client]])
const tour: Tour = { e2b, sandbox, kept }
const whole = [...sandboxStops, ...commandStops, ...fileStops, ...lastStops]
const stops = part === 'git' ? [...gitStops, ...lastStops.slice(-1)] : whole
for (const stop of stops) process.stdout.write(`${JSON.stringify(await visit(tour, stop))}\n`)
process.exit()

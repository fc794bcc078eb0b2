// The same for the client of the code interpreter. `plain`: without IPython inside.
import { Sandbox } from '@e2b/code-interpreter'
import { interpreterStops } from '../tour/interpreter.ts'
import { visit } from '../tour/tour.ts'

const [kernel] = process.argv.slice(2)
const sandbox = await Sandbox.create({ timeoutMs: 900_000 })
if (kernel === 'plain') await sandbox.commands.run('rm -rf /usr/lib/python3/dist-packages/IPython')
for (const stop of interpreterStops) {
  process.stdout.write(`${JSON.stringify(await visit({ sandbox }, stop))}\n`)
}
await sandbox.kill()
process.exit()

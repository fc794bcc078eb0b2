// The loop of loop.ts for E2B's own client. It runs on Forkpoint with three variables, and unchanged otherwise:
// E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY. A sandbox of E2B has no shell that remembers and cannot be
// restored, so the directory and the variable come with each command, and B runs in a sandbox made from the snapshot.
import { readFile } from 'node:fs/promises'
import { Sandbox } from 'e2b'

const task = new URL('task/', import.meta.url)
const where = { cwd: '/task', envs: { MODE: 'debug' } }
const first = await Sandbox.create()

try {
  for (const name of ['prepare_data.py', 'try_fix_a.py', 'try_fix_b.py']) {
    await first.files.write(`/task/${name}`, await readFile(new URL(name, task), 'utf8'))
  }
  await first.commands.run('python3 prepare_data.py', where)

  const { snapshotId } = await first.createSnapshot()
  const { stdout: a } = await first.commands.run('python3 try_fix_a.py', where)
  const second = await Sandbox.create(snapshotId)
  const { stdout: b } = await second.commands
    .run('python3 try_fix_b.py', where)
    .finally(() => second.kill())
  await Sandbox.deleteSnapshot(snapshotId)

  console.log('A:', a.trim())
  console.log('B:', b.trim())
  console.log(Number.parseInt(a, 10) < Number.parseInt(b, 10) ? 'A is better' : 'B is better')
} finally {
  await first.kill()
}

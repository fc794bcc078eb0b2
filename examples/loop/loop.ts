// An agent's loop: build an environment, prepare it, take a snapshot, try a fix, go back, try another.
// The other files of this folder are the same loop in Python, in bash, over MCP and for E2B, and print the same.
import { readFile } from 'node:fs/promises'
import { createEnvManager } from 'forkpoint'

const task = new URL('task/', import.meta.url)
const env = await createEnvManager({ method: 'ckpt_build' })

try {
  await env.execCommand('mkdir /task && cd /task')
  for (const name of ['prepare_data.py', 'try_fix_a.py', 'try_fix_b.py']) {
    await env.environment().files.write(`/task/${name}`, await readFile(new URL(name, task)))
  }
  await env.execCommand('python3 prepare_data.py')
  await env.execCommand('export MODE=debug')

  const id = await env.snapshot()
  const { stdout: a } = await env.execCommand('python3 try_fix_a.py')
  await env.restore(id)
  const { stdout: b } = await env.execCommand('python3 try_fix_b.py')

  console.log('A:', a.trim())
  console.log('B:', b.trim())
  console.log(Number.parseInt(a, 10) < Number.parseInt(b, 10) ? 'A is better' : 'B is better')
} finally {
  await env.cleanup()
}

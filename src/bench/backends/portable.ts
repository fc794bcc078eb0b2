import { join } from 'node:path'
import type { Environment } from '../../index.ts'
import { python, pythonName } from '../workloads/python.ts'
import { run } from '../workloads/workload.ts'

/** Runs in the working directory of any backend, and can be started again where processes are lost. */
export interface PortableWorkload {
  readonly name: string
  start(env: Environment): Promise<void>
  /** what it takes until it runs again in an environment that has only its files */
  startAgain(env: Environment): Promise<void>
  /** resolves when it has answered; rejects if it lost its state */
  ask(env: Environment): Promise<void>
}

export const portableShell: PortableWorkload = {
  name: 'idle shell',
  start: async (env) => {
    await run(env, 'sleep 100000 & export mood=calm')
  },
  startAgain: async (env) => {
    await run(env, 'sleep 100000 &')
  },
  ask: async (env) => {
    const said = await run(env, 'echo $mood')
    if (said !== 'calm\n') throw new Error(`the shell lost its variables: ${said}`)
  },
}

/** Holds as many MB, and answers a number with the object that has it. */
const hold = `
import os, sys
megabytes = int(sys.argv[1])
block = os.urandom(1 << 20)
held = [b'%d:' % n + block for n in range(megabytes)]
questions = os.open('hold.ask', os.O_RDWR)
while True:
    asked = int(os.read(questions, 100))
    with open('hold.reply', 'wb') as reply: reply.write(held[asked].split(b':')[0] + b'\\n')
`

export function portablePython(megabytes: number): PortableWorkload {
  const begin = `${python} -I -S hold.py ${megabytes} > hold.out 2>&1 &`
  return {
    name: pythonName(megabytes),
    start: async (env) => {
      await env.files.write(join(env.lastInfo.workdir, 'hold.py'), hold)
      await run(env, `mkfifo hold.ask hold.reply; ${begin}`)
    },
    startAgain: async (env) => {
      await run(env, begin)
    },
    // Both ends wait for each other, so it takes no longer than the answer.
    ask: async (env) => {
      const asked = Math.floor(Math.random() * megabytes)
      const said = await run(env, `echo ${asked} > hold.ask; cat hold.reply`)
      if (said !== `${asked}\n`) throw new Error(`Python lost its objects: ${said}`)
    },
  }
}

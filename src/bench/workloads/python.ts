import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../index.ts'
import { copyInto, copyLibraries } from './rootfs.ts'
import { run, runUntilDone, type Workload } from './workload.ts'

/**
 * A session that holds this many MB in objects from 200 bytes to half a megabyte, no two pages alike. Asked
 * for a number, it answers with that object; asked for a negative one, it first changes as many MB.
 */
const holdProgram = `
import os, sys
megabytes, place = int(sys.argv[1]), sys.argv[2]
for module in sys.argv[3:]: __import__(module)
block = os.urandom(1 << 20) * 2
sizes = [200] * 500 + [3000] * 50 + [40000] * 5 + [500000]
held, total = [], 0
while total < megabytes << 20:
    n = len(held)
    start, size = n * 7919 % (1 << 20), sizes[n % len(sizes)]
    held.append(b'%d:' % n + block[start:start + size])
    total += size + 40
ask = place + '.ask'
if os.path.exists(ask): os.unlink(ask)
os.mkfifo(ask)
questions = os.open(ask, os.O_RDWR)
print('ready', flush=True)
while True:
    asked = int(os.read(questions, 100))
    changed = 0
    for n in range(len(held)):
        if changed >= -asked << 20: break
        held[n] = held[n][:-1] + b'!'
        changed += len(held[n])
    found = held[asked % len(held)].split(b':')[0]
    with open(place + '.new', 'wb') as answer: answer.write(b'%d %s' % (asked, found))
    os.rename(place + '.new', place + '.answer')
`

export const python = '/usr/bin/python3'
const program = '/root/hold.py'
const place = '/tmp/hold'

/** The command line of the session. The names of its FIFO and its answers begin with `at`. */
export function holdCommand(megabytes: number, at: string): string {
  return `${python} -I -S ${program} ${megabytes} ${at}`
}

/** With a module that may give memory back, though this program does not. */
export function pythonWithMmap(megabytes: number): Workload {
  return session(megabytes, `${pythonName(megabytes)} with mmap`, ['mmap'])
}

export function pythonSession(megabytes: number): Workload {
  return session(megabytes, pythonName(megabytes), [])
}

function session(megabytes: number, name: string, modules: readonly string[]): Workload {
  const command = [holdCommand(megabytes, place), ...modules].join(' ')
  return {
    name,
    needs: [python],
    start: async (env) => {
      await env.files.write(program, holdProgram)
      await run(env, `${command} > ${place}.out 2>&1 &`)
      await runUntilDone(env, `grep -q ready ${place}.out`)
    },
    check: async (env) => {
      await ask(env, Math.ceil(Math.random() * 500))
    },
    change: async (env, changedMb) => {
      await ask(env, -changedMb)
    },
  }
}

/** Rejects unless the session answers with the object that was asked for. */
async function ask(env: Environment, asked: number): Promise<void> {
  await run(env, `rm -f ${place}.answer; echo ${asked} > ${place}.ask`)
  const answer = await runUntilDone(env, `cat ${place}.answer`)
  if (!answer.startsWith(`${asked} `) || (asked > 0 && answer !== `${asked} ${asked}`))
    throw new Error(`Python lost its objects: ${answer}`)
}

export function pythonName(megabytes: number): string {
  return megabytes % 1024 === 0 ? `Python ${megabytes / 1024} GB` : `Python ${megabytes} MB`
}

const listModules = `
import os, sys
for module in list(sys.modules.values()): print(getattr(module, '__file__', None) or '')
`

/** Puts Python into a root file system, with only the modules that the session loads. */
export function copyPython(root: string): void {
  const files = execFileSync(python, ['-I', '-S', '-c', listModules], { encoding: 'utf8' }).split(
    '\n',
  )
  for (const file of files.filter(Boolean)) {
    copyInto(root, file, file)
    if (file.endsWith('.so')) copyLibraries(root, file)
  }
  writeFileSync(join(root, program), holdProgram)
}

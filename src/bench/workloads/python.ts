import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyInto, copyLibraries } from './rootfs.ts'
import { run, runUntilDone, type Workload } from './workload.ts'

/**
 * A session that holds this many MB in objects from a hundred bytes to half a megabyte, no two
 * pages alike, and answers by showing the object of a given number.
 */
const holdProgram = `
import os, sys
megabytes, place = int(sys.argv[1]), sys.argv[2]
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
    told = held[asked % len(held)].split(b':')[0]
    with open(place + '.new', 'wb') as answer: answer.write(b'%d %s' % (asked, told))
    os.rename(place + '.new', place + '.answer')
`

export const python = '/usr/bin/python3'
const program = '/root/hold.py'
const place = '/tmp/hold'

/** The command line of the session; its FIFO and its answers are at the place. */
export function holdCommand(megabytes: number, at: string): string {
  return `${python} -I -S ${program} ${megabytes} ${at}`
}

export function pythonSession(megabytes: number): Workload {
  return {
    name: pythonName(megabytes),
    needs: [python],
    start: async (env) => {
      await env.files.write(program, holdProgram)
      await run(env, `${holdCommand(megabytes, place)} > ${place}.out 2>&1 &`)
      await runUntilDone(env, `grep -q ready ${place}.out`)
    },
    check: async (env) => {
      const asked = Math.ceil(Math.random() * 500)
      const ask = `rm -f ${place}.answer; echo ${asked} > ${place}.ask`
      await run(env, ask)
      const told = await runUntilDone(env, `cat ${place}.answer`)
      if (told !== `${asked} ${asked}`) throw new Error(`Python lost its objects: ${told}`)
    },
  }
}

export function pythonName(megabytes: number): string {
  return megabytes % 1024 === 0 ? `Python ${megabytes / 1024} GB` : `Python ${megabytes} MB`
}

const listModules = `
import os, sys
for module in list(sys.modules.values()): print(getattr(module, '__file__', None) or '')
`

/** Puts Python into a root file system, with just the modules that the session loads. */
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

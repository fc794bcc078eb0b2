import type { Environment } from '../../../src/index.ts'
import { run } from './run.ts'

/**
 * Holds some memory. Each time it is asked, it answers with a checksum of all of it; asked for a change, it
 * changes a few pages first. `locks`: all memory that it gets from then on is locked.
 */
const program = `
import ctypes, sys, zlib
size = int(sys.argv[1]) << 20
held = bytearray(size)
for at in range(0, size, 4096): held[at:at + 8] = at.to_bytes(8, 'little')
MCL_FUTURE = 2
if sys.argv[2] == 'locks' and ctypes.CDLL(None).mlockall(MCL_FUTURE): sys.exit('mlockall')
turn = 0
while True:
    with open('/root/asked') as asked: word = asked.readline().strip()
    if word == 'change':
        turn += 1
        for at in range(turn * 4096, size, size // 50): held[at + 9] = turn
    with open('/root/answer', 'w') as answer: answer.write(f'{turn} {zlib.crc32(held)}')
`

/** Its pid inside is then in /root/pid. */
export async function startProgram(
  env: Environment,
  megabytes: number,
  kind: 'plain' | 'locks' = 'plain',
): Promise<void> {
  await env.files.write('/root/program.py', program)
  await run(env, 'mkfifo /root/asked /root/answer')
  await run(
    env,
    `python3 /root/program.py ${megabytes} ${kind} > /root/log 2>&1 & echo $! > /root/pid`,
  )
  await ask(env, 'look')
}

export async function ask(env: Environment, word: 'change' | 'look'): Promise<string> {
  return await run(env, `echo ${word} > /root/asked; cat /root/answer`)
}

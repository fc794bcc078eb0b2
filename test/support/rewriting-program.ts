import type { Environment } from '../../src/index.ts'

/**
 * A program that holds random bytes. On `rewrite N` it writes all pages again but every twentieth, from
 * the Nth on: what later snapshots inherit of an earlier one is scattered over its file.
 */
export const rewritingProgram = `
import hashlib, os, sys
size, page = int(sys.argv[1]) << 20, 4096
memory = bytearray(os.urandom(size))
while True:
    with open('/tmp/ask') as ask: words = ask.read().split()
    if words[0] == 'rewrite':
        for at in range(size // page):
            if at % 20 != int(words[1]): memory[at * page:(at + 1) * page] = os.urandom(page)
    with open('/tmp/answer', 'w') as answer: answer.write(hashlib.sha256(memory).hexdigest())
`

/** Starts what was written to /root/rewrite.py. */
export function startingIt(mib: number): string {
  const start = `setsid python3 /root/rewrite.py ${mib} </dev/null &>/dev/null`
  return `mkfifo /tmp/ask /tmp/answer; ${start} & disown; ${asking('sum')}`
}

/** Prints a digest of all that it holds. */
export function asking(words: string): string {
  return `echo '${words}' > /tmp/ask; cat /tmp/answer`
}

export async function startRewriting(env: Environment, mib: number): Promise<void> {
  await env.files.write('/root/rewrite.py', rewritingProgram)
  await env.exec(startingIt(mib))
}

export async function ask(env: Environment, words: string): Promise<string> {
  return (await env.exec(asking(words))).stdout
}

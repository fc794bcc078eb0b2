import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../../../src/index.ts'
import { compileC } from '../../real-programs.ts'
import { TemporaryDirectory } from '../../temporary-directory.ts'
import { run } from '../run.ts'

const source = fileURLToPath(new URL('soak.c', import.meta.url))

/** `plain`: without calls that keep copies from sharing memory */
export type Kind = 'any' | 'plain'

export async function startSoak(env: Environment, kind: Kind, seed: number): Promise<void> {
  using directory = new TemporaryDirectory()
  const program = directory.file('soak')
  const options = kind === 'plain' ? ['-DPLAIN'] : []
  compileC(readFileSync(source, 'utf8'), program, ...options, '-lpthread')
  await run(env, 'mkdir -p /root/soak')
  await env.files.write('/root/soak/soak', readFileSync(program))
  await env.files.write('/root/check', checking)
  await run(
    env,
    `chmod +x /root/soak/soak; /root/soak/soak /root/soak ${seed} > /root/log 2>&1 & echo $! > /root/first`,
  )
}

/** Asks every process for a check, the first one first (a child may have a lower number), and waits for the answers. One that ends has none. */
const checking = `
cd /root/soak
first=$(cat /root/first)
pids=$first
for p in $(ls /proc | grep '^[0-9]'); do
  [ $p = $first ] && continue
  case "$(tr '\\0' ' ' < /proc/$p/cmdline)" in (soak\\ *|*/soak\\ *) pids="$pids $p";; esac
done
for p in $pids; do rm -f $p; kill -USR1 $p; done
for p in $pids; do
  n=0
  while [ ! -e $p ] && [ -e /proc/$p ] && [ $n -lt 900 ]; do sleep 0.1; n=$((n+1)); done
  if [ -e $p ]; then cat $p; elif [ -e /proc/$p ]; then echo "bad: no answer from $p"; fi
done
`

export interface Checked {
  /** what the processes said that found something wrong */
  readonly wrong: readonly string[]
  readonly processes: number
  readonly pages: number
  /** how far the first process is; others may be farther, and end */
  readonly step: number
}

export async function checkSoak(env: Environment): Promise<Checked> {
  const { stdout } = await env.exec('bash /root/check 2>/dev/null', { timeoutMs: 120_000 })
  const lines = stdout.split('\n').filter(Boolean)
  const right = lines.flatMap((line) => {
    const [, step, pages] = /^ok (\d+) (\d+)$/.exec(line) ?? []
    return step === undefined ? [] : [{ step: Number(step), pages: Number(pages) }]
  })
  return {
    wrong: lines.filter((line) => !line.startsWith('ok ')),
    processes: lines.length,
    pages: right.reduce((sum, { pages }) => sum + pages, 0),
    step: right[0]?.step ?? 0,
  }
}

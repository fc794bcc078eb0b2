import { expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { run, wordsOf } from '../support/workloads/run.ts'
import { type, typeAndSee } from '../support/workloads/terminal.ts'

const preparation = `
cd /usr/share
umask 027
set -o pipefail -o noclobber
shopt -s extglob nullglob expand_aliases
alias greet='echo hello from an alias'
plain='not exported'; export SHARED='exported'
list=(one 'two words' three); declare -A table=([key]=value ['a b']='c d')
declare -i number=7; readonly fixed=constant
double() { local n=$1; echo $((n * 2)); }
trap 'echo caught' USR1
set -- first second
exec 7> /root/seven; echo before >&7
: >> /root/ticks
(while :; do sleep 0.05; echo tick >> /root/ticks; done) &
background=$!
sleep 1000 & stopped=$!
kill -STOP $stopped
until [ "$(cut -d' ' -f3 /proc/$stopped/stat)" = T ]; do sleep 0.01; done
`

const expectedState = `/usr/share
0027
pipefail on noclobber on extglob on
hello from an alias
not exported exported|bash child: exported
3 two words|value c d
8 constant 42
first second
caught
Running Stopped T`

const question = `
pwd; umask
echo $(set -o | grep -E '^(pipefail|noclobber)' | sort -r) $(shopt extglob)
greet
echo "$plain $SHARED|bash child:$(bash -c 'echo "$plain $SHARED"')"
echo "\${#list[@]} \${list[1]}|\${table[key]} \${table[a b]}"
sum=$((number + 1)); echo $sum $fixed $(double 21)
echo $*
kill -USR1 $$
echo $(jobs -l | grep -o -E 'Running|Stopped') $(cut -d' ' -f3 /proc/$stopped/stat)
`

test('a shell keeps its variables, functions, options, aliases, traps and jobs', () =>
  branchThreeWays({
    start: async (env) => {
      await run(env, preparation)
    },
    check: async (env) => {
      expect(await run(env, question)).toBe(expectedState)
      await expectTicks(env)
      await run(
        env,
        'echo more >&7 && grep -q before /root/seven && tail -1 /root/seven | grep more',
      )
    },
    mark: async (env, word) => {
      await run(env, `marks+=' ${word}'`)
    },
    marks: async (env) => wordsOf(await run(env, 'echo "$marks"')),
  }))

/** The background job continues. */
async function expectTicks(env: Environment): Promise<void> {
  const before = Number(await run(env, 'wc -l < /root/ticks'))
  const count = async () => Number(await run(env, 'wc -l < /root/ticks'))
  await expect.poll(count, patiently).toBeGreaterThan(before)
}

test('a job stopped with Ctrl-Z can be continued in the foreground in every branch', () =>
  branchThreeWays({
    terminals: ['desk'],
    start: async (env) => {
      await env.terminal('desk').attach({ argv: ['bash', '--norc'], env: { PS1: '$ ' } })
      await typeAndSee(env, 'desk', 'cat > /root/typed\r', /typed$/m)
      await type(env, 'desk', 'first line\r')
      // Ctrl-Z discards input that was typed but not read.
      await expect.poll(() => run(env, 'cat /root/typed')).toBe('first line')
      await typeAndSee(env, 'desk', '\x1a', /Stopped/)
      await typeAndSee(env, 'desk', 'x=remembered; clear; echo ready\r', /^ready$/m)
    },
    check: async (env) => {
      await typeAndSee(env, 'desk', 'clear; jobs; echo "<$x>"\r', /Stopped.*cat[\s\S]*<remembered>/)
      expect(await run(env, 'head -1 /root/typed')).toBe('first line')
    },
    mark: async (env, word) => {
      await typeAndSee(env, 'desk', 'clear; fg\r', /^cat > \/root\/typed$/m)
      await type(env, 'desk', `${word}\r`)
      await expect.poll(() => run(env, 'tail -1 /root/typed')).toBe(word)
      await typeAndSee(env, 'desk', '\x1a', /Stopped/)
    },
    marks: async (env) => wordsOf(await run(env, 'tail -n +2 /root/typed')),
  }))

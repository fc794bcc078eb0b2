import { test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { run, runUntilDone, wordsOf } from '../support/workloads/run.ts'

const pipeline = `
echo 'note begun' > /root/log
tail -n +1 -f /root/log | grep --line-buffered note | while read -r _ word; do
  words+="$word "; echo "$words" > /root/words
done &
`

test('a pipeline that follows a log keeps following it', () =>
  branchThreeWays({
    start: async (env) => {
      await run(env, pipeline)
      await runUntilDone(env, 'test "$(cat /root/words)" = "begun "')
    },
    check: async (env) => {
      await run(env, '[[ $(cat /root/words) = begun* ]] && jobs %% | grep -q Running')
      await run(env, 'echo "something else" >> /root/log')
    },
    mark: async (env, word) => {
      await run(env, `echo "note ${word}" >> /root/log`)
    },
    marks: async (env) => wordsOf(await run(env, 'cat /root/words')).slice(1),
  }))

const full = `
(yes 'a line that fills the pipe' | head -c 300000 > >(sleep 1000) ) &
(seq 1 20000; exec sleep 1000) | { read -r first; exec 5<&0; while [ ! -e /root/go ]; do sleep 0.05; done
  cat <&5 | head -19999 | cksum > /root/sum; } &
`

test('what is queued in a full pipe is neither lost nor repeated', () =>
  branchThreeWays({
    start: async (env) => {
      await run(env, full)
      await run(env, 'rest=$(seq 2 20000 | cksum); marks=')
    },
    check: async (env) => {
      await run(env, 'test "$(jobs -r | wc -l)" -ge 2')
    },
    mark: async (env, word) => {
      await run(env, 'touch /root/go')
      await runUntilDone(env, 'test "$(cat /root/sum)" = "$rest"')
      await run(env, `marks+=' ${word}'`)
    },
    marks: async (env) => {
      // Nothing leaves the pipe in a branch where nobody reads it.
      await run(env, '[ -n "$marks" ] || [ ! -e /root/sum ]')
      return wordsOf(await run(env, 'echo "$marks"'))
    },
  }))

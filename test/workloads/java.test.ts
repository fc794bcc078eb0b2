import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bring, wordsOf } from '../support/workloads/run.ts'

const program = dialogue(
  'program',
  'java -Xmx96m -Xlog:disable -Xlog:gc:/root/gc.log /root/JavaProgram.java',
  (mark) => `say ${mark}`,
)

test('a JVM keeps its threads, timers and heap under garbage collection', () =>
  branchThreeWays({
    start: async (env) => {
      await bring(env, 'JavaProgram.java')
      await program.start(env)
      expect(await program.ask(env, 'say hello')).toBe('hello')
    },
    check: async (env) => {
      expect(await program.ask(env, 'check')).toBe('OK')
    },
    mark: async (env, word) => {
      await program.ask(env, `mark ${word}`)
    },
    marks: async (env) => wordsOf(await program.ask(env, 'marks')),
  }))

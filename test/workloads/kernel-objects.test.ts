import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bringDirectory, run, wordsOf } from '../support/workloads/run.ts'

const program = dialogue('program', '/root/program', (mark) => `say ${mark}`)

test('a C program finds every kind of kernel object as it was', () =>
  branchThreeWays({
    start: async (env) => {
      const sources = await bringDirectory(env, 'kernel-objects')
      await run(env, `gcc -O1 -pthread -o /root/program ${sources}/*.c`)
      await run(env, 'mkdir /root/objects; cd /root/objects')
      await program.start(env)
    },
    check: async (env) => {
      expect(await program.ask(env, 'check')).toBe('OK')
    },
    mark: async (env, word) => {
      await program.ask(env, `mark ${word}`)
    },
    marks: async (env) => wordsOf(await program.ask(env, 'marks')),
  }))

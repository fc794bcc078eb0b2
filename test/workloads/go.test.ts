import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bring, run, wordsOf } from '../support/workloads/run.ts'

const program = dialogue('program', '/root/program', (mark) => `say ${mark}`)

test('a Go program keeps its goroutines, channels, timers and heap under garbage collection', () =>
  branchThreeWays({
    start: async (env) => {
      const source = await bring(env, 'go-program.go')
      await run(env, `GOCACHE=/root/go go build -o /root/program ${source}`)
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

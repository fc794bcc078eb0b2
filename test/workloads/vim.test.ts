import { expect, test } from 'vitest'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { run, wordsOf } from '../support/workloads/run.ts'
import { see, textOf, typeAndSee } from '../support/workloads/terminal.ts'

test('vim keeps what was typed and not saved, its undo history and its screen', () =>
  branchThreeWays({
    terminals: ['editor'],
    start: async (env) => {
      await run(env, 'printf "first\\nsecond\\n" > /root/story')
      await env.terminal('editor').attach({ argv: ['vi', '-u', 'NONE', '-N', '/root/story'] })
      await see(env, 'editor', /^second$/m)
      await typeAndSee(env, 'editor', 'Gothird, unsaved\x1b', /^third, unsaved$/m)
      await typeAndSee(env, 'editor', 'o--\x1b', /^--$/m)
    },
    check: async (env) => {
      expect(await textOf(env, 'editor')).toMatch(/^first\nsecond\nthird, unsaved\n--$/m)
      expect(await run(env, 'cat /root/story')).toBe('first\nsecond')
      await typeAndSee(env, 'editor', 'oslip\x1b', /^slip$/m)
      await typeAndSee(env, 'editor', 'u', /^--\n(?!.*slip$)/m)
    },
    mark: async (env, word) => {
      await typeAndSee(env, 'editor', `Go${word}\x1b`, new RegExp(`^${word}$`, 'm'))
    },
    marks: async (env) => {
      const [, marks = ''] = (await textOf(env, 'editor')).split(/^--\n/m)
      return wordsOf(marks.split('~')[0] ?? '')
    },
  }))

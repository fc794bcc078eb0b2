import { expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { run, runUntilDone, wordsOf } from '../support/workloads/run.ts'
import { see } from '../support/workloads/terminal.ts'

const shell = "'bash --norc'"
const panes = `
export PS1='$ ' TMUX_TMPDIR=/root
tmux -f /dev/null new-session -d -s work -x 100 -y 30 ${shell}
tmux set -g status off
tmux split-window -h ${shell}; tmux split-window -v '/usr/bin/python3 -q'
tmux select-pane -t work:0.0; tmux split-window -v 'while read -r line; do echo "<$line>"; done'
tmux list-panes -t work -F '#{pane_index}'
`

async function typeInto(env: Environment, pane: number, line: string): Promise<void> {
  await env.exec(
    `tmux send-keys -t work:0.${pane} -l "$LINE"; tmux send-keys -t work:0.${pane} Enter`,
    {
      env: { LINE: line },
    },
  )
}

async function seeIn(env: Environment, pane: number, text: string): Promise<void> {
  await runUntilDone(env, `tmux capture-pane -p -t work:0.${pane} | grep -q -x -F '${text}'`)
}

test('tmux keeps its four panes, what runs in them and its attached terminal', () =>
  branchThreeWays({
    terminals: ['desk'],
    start: async (env) => {
      expect(wordsOf(await run(env, panes))).toEqual(['0', '1', '2', '3'])
      await env.terminal('desk').attach({
        argv: ['tmux', 'attach', '-t', 'work'],
        cols: 100,
        rows: 30,
        env: { TMUX_TMPDIR: '/root', TERM: 'xterm' },
      })
      await typeInto(env, 0, 'x=zero; echo pane-$x')
      await typeInto(env, 1, 'a line')
      await typeInto(env, 2, 'x=two; echo pane-$x')
      await typeInto(env, 3, 'x = 40')
      await typeInto(env, 3, 'print("pane", x + 2)')
      await see(env, 'desk', /pane-zero[\s\S]*pane-two/)
      await see(env, 'desk', /<a line>/)
      await see(env, 'desk', /pane 42/)
    },
    check: async (env) => {
      await typeInto(env, 0, 'clear; echo again-$x')
      await seeIn(env, 0, 'again-zero')
      await typeInto(env, 1, 'b line')
      await seeIn(env, 1, '<b line>')
      await typeInto(env, 2, 'clear; echo again-$x')
      await seeIn(env, 2, 'again-two')
      await typeInto(env, 3, 'print("again", x + 3)')
      await seeIn(env, 3, 'again 43')
      await see(env, 'desk', /again-zero[\s\S]*again-two/)
    },
    mark: async (env, word) => {
      await typeInto(
        env,
        2,
        `marks+=(${word}); clear; echo "\${marks[@]}" > /root/marks; echo ok-${word}`,
      )
      await seeIn(env, 2, `ok-${word}`)
    },
    marks: async (env) => wordsOf(await run(env, 'cat /root/marks 2> /dev/null || true')),
  }))

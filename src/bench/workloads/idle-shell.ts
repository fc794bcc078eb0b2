import { run, type Workload } from './workload.ts'

/** Wakes up a hundred times a second. */
export const ticking = `perl -e 'select(undef, undef, undef, 0.01) while 1'`

export const idleShell: Workload = {
  name: 'idle shell',
  needs: ['perl'],
  start: async (env) => {
    await run(env, `${ticking} & mood=calm`)
  },
  check: async (env) => {
    const said = await run(env, 'echo "$mood"; jobs -r')
    if (!/^calm\n\[1\].*perl/.test(said)) throw new Error(`the shell lost its state: ${said}`)
  },
}

import { run, runUntilDone, type Workload } from './workload.ts'

const counted = 'grep -lsx sleep /proc/[0-9]*/comm | wc -l'

/** Many processes that do nothing. */
export function crowd(processes: number): Workload {
  return {
    name: `${processes} processes`,
    needs: ['sleep'],
    start: async (env) => {
      const starting = `for ((i = 0; i < ${processes}; i += 1)); do sleep infinity & done; wait`
      await run(env, `bash -c '${starting}' &`)
      await runUntilDone(env, `[ "$(${counted})" = ${processes} ]`)
    },
    check: async (env) => {
      const found = Number(await run(env, counted))
      if (found !== processes) throw new Error(`${found} of ${processes} processes are left`)
    },
  }
}

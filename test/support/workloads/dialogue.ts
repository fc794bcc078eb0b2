import type { Environment } from '../../../src/index.ts'
import { run } from './run.ts'

/** A program inside that keeps running and answers questions put to it. */
export interface Dialogue {
  start(env: Environment): Promise<void>
  /** what it says to one line */
  ask(env: Environment, line: string): Promise<string>
}

const endMark = 'that-is-all'

/**
 * Talks to `command` over two FIFOs that the persistent shell holds open. `sayEnd` is the line that
 * makes it print its argument, which shows where an answer ends.
 */
export function dialogue(
  name: string,
  command: string,
  sayEnd: (mark: string) => string,
): Dialogue {
  const [toIt, fromIt] = [`/root/${name}.in`, `/root/${name}.out`]
  return {
    start: async (env) => {
      await run(
        env,
        `mkfifo ${toIt} ${fromIt}; exec {${name}_in}<>${toIt} {${name}_out}<>${fromIt}`,
      )
      await run(env, `${command} <&$${name}_in >&$${name}_out 2>&1 &`)
    },
    ask: async (env, line) => {
      await env.files.write(`${toIt}.question`, `${line}\n${sayEnd(endMark)}\n`)
      const answer = await run(
        env,
        [
          `cat ${toIt}.question >&$${name}_in`,
          `while IFS= read -r -t 25 -u $${name}_out line || { echo no answer; false; }; do`,
          `  case $line in *${endMark}*) break ;; *) printf '%s\\n' "$line" ;; esac`,
          'done',
        ].join('\n'),
      )
      return answer
    },
  }
}

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as z from 'zod'

const text = z.string().max(10_000)

/** Things that a person asks for by name. */
export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    'explore_fixes',
    {
      title: 'Explore fixes',
      description: 'Try several fixes for a problem in forks, and keep the best.',
      argsSchema: {
        environment: text.describe('id or name of the environment'),
        problem: text.describe('what is wrong'),
        check: text.optional().describe('a command that exits with 0 when it is fixed'),
        count: text.optional().describe('how many fixes to try; default 3'),
      },
    },
    ({ environment, problem, check, count = '3' }) =>
      asked(exploring(environment, problem, check, count)),
  )
  server.registerPrompt(
    'rewind',
    {
      title: 'Rewind',
      description: 'Return an environment to a state before something went wrong.',
      argsSchema: {
        environment: text.describe('id or name of the environment'),
        to: text.optional().describe('what the state to return to was like'),
      },
    },
    ({ environment, to }) => asked(rewinding(environment, to)),
  )
}

function asked(words: string) {
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: words } }] }
}

function exploring(environment: string, problem: string, check: string | undefined, count: string) {
  const judge =
    check === undefined
      ? 'Find or write a command that shows whether the problem is solved, and use it as `check`.'
      : `The problem is solved when this exits with 0; use it as \`check\`: ${check}`
  return `In the environment ${environment}, this is wrong:

${problem}

1. Reproduce it, and take a snapshot named after the state you reached.
2. ${judge}
3. Think of ${count} fixes that differ in approach, not in detail. Write each as one command line: a patch, a script or a change of configuration.
4. Call try_commands with them and the check, and keep the best.
5. If none passes, look at what each attempt printed, and try again with better ones from the same snapshot.
6. Show the diff against the snapshot, and say why the kept fix is the best.`
}

function rewinding(environment: string, to: string | undefined) {
  const wanted = to === undefined ? 'the last state in which things worked' : `this state: ${to}`
  return `Return the environment ${environment} to ${wanted}.

1. Look at the tree of the environment, and find the snapshot that fits best by its name and message.
2. Show with diff what will be lost since then. If something in it is worth keeping, take a snapshot first, or fork the environment.
3. Restore the snapshot, and check that the environment is as expected.`
}

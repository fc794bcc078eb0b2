import type { Verb } from '../actions/verb.ts'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'

/** Closing a terminal ends what runs on it, so it is asked for. */
export function closeVerb(environment: EnvironmentNode, terminal: string): Verb {
  const title = `Close terminal ${terminal} of ${nameOf(environment)}`
  return {
    id: 'close-terminal',
    title,
    scope: 'exec',
    applies: () => true,
    ask: () => ({
      title,
      says: 'The programs that run on it are hung up, and end. Other branches keep theirs.',
      tone: 'harm',
      confirm: 'Close it',
      fields: [],
      run: async (client) => {
        await client.closeTerminal(environment.id, terminal)
        return { text: `Closed terminal ${terminal} of ${nameOf(environment)}.` }
      },
    }),
  }
}

/** Where the agent is, inside. */
export const runDirectory = '/run/forkpoint'

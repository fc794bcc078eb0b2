/**
 * How long Ctrl-C waits for a command to end and for its last output. A prompt that comes later feels stuck;
 * most programs take a few milliseconds.
 */
export const abortWaitMs = 200

/** How long the agent lets an interrupted command run before it kills it. */
export const graceMs = 2000

/**
 * The length of a second for whoever waits for something that may never come. Tests of what never comes
 * use shorter ones, here and in the programs they start.
 */
export function secondMs(): number {
  return Number(process.env.FORKPOINT_SECOND_MS ?? 1000)
}

/** How long to wait, in seconds of that length. */
export function patience(seconds: number): number {
  return seconds * secondMs()
}

/** How a command ended, in a word or two. */
export function exitOf({
  exitCode,
  signal,
}: {
  readonly exitCode: number | null
  readonly signal: string | null
}): string {
  return signal ?? `exit ${exitCode}`
}

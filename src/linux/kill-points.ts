/**
 * Moments at which the tests kill Forkpoint, to prove that the next process puts everything right:
 * each name is a step that has just been done.
 */
export const killPoints = [
  'create:recorded',
  'create:formatted',
  'create:volume',
  'create:layers',
  'launch:directories',
  'launch:cgroups',
  'launch:net',
  'launch:alive',
  'create:instance',
  'create:introduced',
  'create:finished',
  'snapshot:begun',
  'snapshot:frozen',
  'snapshot:shared',
  'snapshot:dumped',
  'snapshot:sealed',
  'snapshot:copied',
  'snapshot:committed',
  'release:committed',
  'restore:begun',
  'restore:alive',
  'restore:committed',
  'resume:begun',
  'resume:alive',
  'resume:committed',
  'promote:begun',
  'promote:alive',
  'promote:committed',
  'fork:begun',
  'fork:alive',
  'spare:recorded',
  'spare:made',
  'spare:ready',
  'spare:running',
  'remove:recorded',
  'remove:processes',
  'remove:network',
  'remove:directories',
  'remove:forgotten',
  'remove:nat',
  'remove:unmounted',
  'remove:released',
  'prune:recorded',
  'prune:discarded',
  'prune:forgotten',
  'squash:begun',
  'squash:merged',
  'squash:renamed',
  'squash:recorded',
  'squash:gathered',
  'apply:begun',
  'apply:staged',
  'apply:planned',
  'apply:taken',
  'apply:done',
] as const

export type KillPoint = (typeof killPoints)[number]

const chosen = process.env.FORKPOINT_KILL_AT

/** Ends this process as a crash would, if FORKPOINT_KILL_AT names this moment. */
export function killPoint(name: KillPoint): void {
  if (name === chosen) process.kill(process.pid, 'SIGKILL')
}

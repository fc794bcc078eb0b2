import type { Environment } from '../../index.ts'
import { run } from '../workloads/workload.ts'

const gaps = '/root/bench-gaps'

/**
 * Wakes up every half millisecond and notes how long it was not able to: longer than 3 ms. By the
 * wall clock: CRIU restores into a time namespace in which CLOCK_MONOTONIC stood still meanwhile.
 */
const ticker = `perl -MTime::HiRes=clock_gettime,CLOCK_REALTIME,usleep -e '
$| = 1;
my $last = clock_gettime(CLOCK_REALTIME);
while (1) {
  usleep(500);
  my $now = clock_gettime(CLOCK_REALTIME);
  printf("%.2f\\n", ($now - $last) * 1000) if $now - $last > 0.003;
  $last = $now;
}' > ${gaps} &`

/** The longest time in a snapshot that a process inside did not run, as it saw it itself. */
export async function pauseSeenInside(env: Environment): Promise<number> {
  await run(env, ticker)
  await run(env, `sleep 0.05; : > ${gaps}`)
  await env.snapshot()
  // The process has not written the last gap before it ran again.
  const seen = await run(env, `sleep 0.02; cat ${gaps}; kill %%`)
  // What was truncated meanwhile is read as zeros.
  return Math.max(0, ...seen.split('\0').join('').split('\n').filter(Boolean).map(Number))
}

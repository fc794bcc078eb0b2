import type { Environment } from '../../index.ts'
import { run, runUntilDone } from '../workloads/workload.ts'

const ticking = '/root/bench-ticking'
const longest = '/root/bench-longest'

/**
 * Wakes up every half millisecond until it is told to end, then tells the longest time that it was
 * not able to. By the wall clock: CRIU restores into a time namespace in which CLOCK_MONOTONIC
 * stood still meanwhile.
 */
const ticker = `perl -MTime::HiRes=clock_gettime,CLOCK_REALTIME,usleep -e '
$SIG{TERM} = sub { $ending = 1 };
my ($last, $longest) = (clock_gettime(CLOCK_REALTIME), 0);
open(my $started, ">", "${ticking}");
until ($ending) {
  usleep(500);
  my $now = clock_gettime(CLOCK_REALTIME);
  $longest = $now - $last if $now - $last > $longest;
  $last = $now;
}
printf("%.2f\\n", $longest * 1000);' > ${longest} &`

/** The longest time in a snapshot, in ms, that a process inside did not run, as it saw it itself. */
export async function pauseSeenInside(env: Environment): Promise<number> {
  await run(env, `rm -f ${ticking}; ${ticker}`)
  await runUntilDone(env, `[ -e ${ticking} ]`)
  await env.snapshot()
  return Number(await run(env, `kill %%; wait %% 2> /dev/null; cat ${longest}`))
}

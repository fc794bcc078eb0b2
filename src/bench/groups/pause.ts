import type { Environment } from '../../index.ts'
import { run, runUntilDone } from '../workloads/workload.ts'

const ticking = '/root/bench-ticking'
const longest = '/root/bench-longest'

/**
 * Wakes up every half millisecond until it is ended, then reports the longest time that it could not.
 * It uses the wall clock, because CRIU restores into a time namespace in which CLOCK_MONOTONIC stood
 * still in the meantime.
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

/** The longest time, in ms, that a process inside could not run during a snapshot, as it saw it. */
export async function pauseSeenInside(env: Environment): Promise<number> {
  return (await pauseDuring(env, () => env.snapshot())).pauseMs
}

/** The same during any work on the environment, with the result of that work. */
export async function pauseDuring<T>(
  env: Environment,
  work: () => Promise<T>,
): Promise<{ readonly pauseMs: number; readonly result: T }> {
  await run(env, `rm -f ${ticking}; ${ticker}`)
  await runUntilDone(env, `[ -e ${ticking} ]`)
  const result = await work()
  const pauseMs = Number(await run(env, `kill %%; wait %% 2> /dev/null; cat ${longest}`))
  return { pauseMs, result }
}

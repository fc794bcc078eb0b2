import type { Environment, Forkpoint } from '../../index.ts'
import type { Peer } from './peer.ts'
import { add, type Samples, timed } from './samples.ts'

const copies = 4

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
}' > /root/gaps & echo started`

/** An environment with the workload in its shell. */
export async function startOurs(fp: Forkpoint): Promise<Peer> {
  const env = await fp.create({ from: 'host' })
  await env.exec(ticker)
  return {
    round: async (samples: Samples) => {
      await env.exec(': > /root/gaps')
      const taken = await timed(() => env.snapshot())
      add(samples, 'forkpoint snapshot', taken.ms)
      add(samples, 'pause seen inside', await largestGap(env))
      const restored = await timed(() => env.restore(taken.result))
      add(samples, 'forkpoint restore', restored.ms)
      const forked = await timed(() => taken.result.fork(copies))
      add(samples, 'forkpoint fork, per copy of 4', forked.ms / copies)
      await Promise.all(forked.result.map((copy) => copy.remove()))
    },
    [Symbol.asyncDispose]: async () => {
      await env.remove()
      await fp.prune()
    },
  }
}

/** Between two of its steps, as the ticking process saw it; the shorter ones are not noted. */
async function largestGap(env: Environment): Promise<number> {
  const { stdout } = await env.exec('sleep 0.02; cat /root/gaps')
  return Math.max(0, ...stdout.split('\0').join('').split('\n').filter(Boolean).map(Number))
}

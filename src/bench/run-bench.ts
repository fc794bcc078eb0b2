import type { OpenOptions } from '../index.ts'
import { BenchHome } from './bench-home.ts'
import type { Bench } from './groups/bench.ts'
import { measureChain } from './groups/chain.ts'
import { measureFanout } from './groups/fanout.ts'
import { measureOperations } from './groups/operations.ts'
import { measureSize } from './groups/size.ts'
import { measureSoak } from './groups/soak.ts'
import { removeKilledRuns } from './killed-runs.ts'
import { availableBytes, describeMachine } from './machine.ts'
import { quickCriu } from './peers/quick-criu.ts'
import { makePlace, removePlace } from './places.ts'
import { type BenchOptions, type Plan, planOf } from './plan.ts'
import { judge } from './promises.ts'
import type { GroupName, Missing, Results, Series } from './results.ts'
import { firstFailure } from './run-tool.ts'

const measures: Record<GroupName, (bench: Bench) => Promise<readonly Series[]>> = {
  operations: measureOperations,
  size: measureSize,
  fanout: measureFanout,
  chain: measureChain,
  soak: measureSoak,
}

/** Who follows a run, and may end it. */
export interface Follower {
  readonly say: (doing: string) => void
  readonly signal: AbortSignal
}

/** Measures on this machine, in a home of its own, and leaves nothing behind. */
export async function runBench(
  options: BenchOptions,
  open: OpenOptions,
  follower: Follower,
): Promise<Results> {
  try {
    return await measure(planOf(options, availableBytes()), open, follower)
  } catch (error) {
    throw firstFailure(error)
  }
}

async function measure(plan: Plan, open: OpenOptions, follower: Follower): Promise<Results> {
  const startedAt = new Date()
  await using stack = new AsyncDisposableStack()
  await removeKilledRuns(open)
  const dir = stack.adopt(makePlace('disk'), removePlace)
  const memory = stack.adopt(makePlace('memory'), removePlace)
  const home = stack.use(new BenchHome(open))
  const missing: Missing[] = []
  const failed: Missing[] = []
  const bench: Bench = {
    ...{ plan, dir, home: home.path, criu: home.criu },
    quickCriu: quickCriu(dir, home.criu, memory),
    cold: await home.openCold(),
    warm: await home.openWarm(),
    say: (doing) => {
      follower.signal.throwIfAborted()
      follower.say(doing)
    },
    miss: ({ what, why }) => {
      // Every round finds it out again.
      if (!missing.some((each) => each.what === what)) missing.push({ what, why })
    },
    attempt: (what, work) => attempt(what, work, failed, follower),
  }
  const machine = await describeMachine(home.criu)
  const groups: Partial<Record<GroupName, readonly Series[]>> = {}
  for (const name of plan.groups) {
    groups[name] = (await bench.attempt(name, () => measures[name](bench))) ?? []
  }
  return {
    ...{ machine, startedAt: startedAt.toISOString(), tookMs: Date.now() - startedAt.getTime() },
    ...{ rounds: plan.rounds, groups, missing, failed, promises: judge(groups) },
  }
}

async function attempt<T>(
  what: string,
  work: () => Promise<T>,
  failed: Missing[],
  { signal, say }: Follower,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    const why = String(firstFailure(error))
    say(`${what} failed: ${why}`)
    failed.push({ what, why })
    return null
  }
}

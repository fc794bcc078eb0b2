import type { OpenOptions } from '../index.ts'
import { measureBackends } from './groups/backends.ts'
import type { Bench } from './groups/bench.ts'
import { measureChain } from './groups/chain.ts'
import { measureFanout } from './groups/fanout.ts'
import { measureMemory } from './groups/memory.ts'
import { measureOperations } from './groups/operations.ts'
import { measurePauses } from './groups/pauses.ts'
import { measureSize } from './groups/size.ts'
import { measureSoak } from './groups/soak.ts'
import { measureWriting } from './groups/writing.ts'
import { BenchHome } from './homes/bench-home.ts'
import type { Engine } from './homes/engine.ts'
import { removeKilledRuns } from './homes/killed-runs.ts'
import { loadCheckout, type OtherCheckout } from './homes/other-checkout.ts'
import { makePlace, removePlace } from './homes/places.ts'
import { availableBytes, describeMachine } from './machine.ts'
import { quickCriu } from './peers/quick-criu.ts'
import { type BenchOptions, type Plan, planOf } from './plan.ts'
import { judge } from './promises/judge.ts'
import type { BackendFacts, BackendName, GroupName, Missing, Results, Series } from './results.ts'
import { firstFailure } from './run-tool.ts'

const measures: Record<GroupName, (bench: Bench) => Promise<readonly Series[]>> = {
  operations: measureOperations,
  size: measureSize,
  fanout: measureFanout,
  chain: measureChain,
  memory: measureMemory,
  writing: measureWriting,
  pause: measurePauses,
  soak: measureSoak,
  backends: measureBackends,
}

/** Follows a run, and may end it. */
export interface Follower {
  readonly say: (doing: string) => void
  readonly signal: AbortSignal
}

/** Measures on this machine, in its own home, and leaves nothing behind. */
export async function runBench(
  options: BenchOptions,
  open: OpenOptions,
  follower: Follower,
): Promise<Results> {
  const { against } = options
  const other = against === undefined ? null : await loadCheckout(against)
  try {
    return await measure({ plan: planOf(options, availableBytes()), open, other, follower })
  } catch (error) {
    throw firstFailure(error)
  }
}

interface Run {
  readonly plan: Plan
  readonly open: OpenOptions
  readonly other: OtherCheckout | null
  readonly follower: Follower
}

async function measure(run: Run): Promise<Results> {
  const startedAt = new Date()
  await using stack = new AsyncDisposableStack()
  await removeKilledRuns(run.open)
  const missing: Missing[] = []
  const failed: Missing[] = []
  const backends = new Map<BackendName, BackendFacts>()
  const bench = await prepare(run, stack, { missing, failed, backends })
  const machine = await describeMachine(bench.criu)
  const groups = await measureGroups(bench)
  return {
    machine,
    startedAt: startedAt.toISOString(),
    tookMs: Date.now() - startedAt.getTime(),
    rounds: run.plan.rounds,
    ...(run.other !== null && { against: run.other.name }),
    groups,
    ...(backends.size > 0 && { backends: inOrder(backends, run.plan.backends.names) }),
    missing,
    failed,
    promises: judge(groups),
  }
}

function inOrder(
  facts: ReadonlyMap<BackendName, BackendFacts>,
  names: readonly BackendName[],
): BackendFacts[] {
  return names.flatMap((name) => facts.get(name) ?? [])
}

/** What a run notes on its way. */
interface Notes {
  readonly missing: Missing[]
  readonly failed: Missing[]
  readonly backends: Map<BackendName, BackendFacts>
}

/** Opens everything that is measured; the stack closes and removes it. */
async function prepare(
  { plan, open, other, follower }: Run,
  stack: AsyncDisposableStack,
  { missing, failed, backends }: Notes,
): Promise<Bench> {
  const dir = stack.adopt(makePlace('disk'), removePlace)
  const memory = stack.adopt(makePlace('memory'), removePlace)
  const home = stack.use(new BenchHome(open))
  const ours = await home.openEngine('forkpoint')
  const engines = [ours]
  if (other !== null) {
    engines.push(await stack.use(new BenchHome(open, other)).openEngine('before'))
  }
  return {
    ...ours,
    plan,
    engines,
    openExt4: () => openExt4(open),
    dir,
    criu: home.criu,
    quickCriu: quickCriu(dir, home.criu, memory),
    say: (doing) => {
      follower.signal.throwIfAborted()
      follower.say(doing)
    },
    miss: ({ what, why }) => {
      // Every round reports it again.
      if (!missing.some((each) => each.what === what)) missing.push({ what, why })
    },
    found: (facts) => backends.set(facts.backend, facts),
    attempt: (what, work) => attempt(what, work, failed, follower),
  }
}

async function openExt4(open: OpenOptions): Promise<Engine & AsyncDisposable> {
  await using opening = new AsyncDisposableStack()
  const home = opening.use(
    new BenchHome({ ...open, settings: { ...open.settings, volume: 'ext4' } }),
  )
  const engine = await home.openEngine('ext4')
  const opened = opening.move()
  return { ...engine, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function measureGroups(bench: Bench): Promise<Results['groups']> {
  const groups: Partial<Record<GroupName, readonly Series[]>> = {}
  for (const name of bench.plan.groups) {
    groups[name] = (await bench.attempt(name, () => measures[name](bench))) ?? []
  }
  return groups
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

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take a minute or more, by their time on two cores. Started last, they would run alone at the end. */
const longest = [
  'test/undisturbed/undisturbed.test.ts',
  'test/faults/killed-branching.test.ts',
  'test/faults/branching.test.ts',
  'test/faults/killed-operations.test.ts',
  'test/workloads/stale-memory.test.ts',
  'test/cells/network.test.ts',
  'test/workloads/memory-generations.test.ts',
  'test/attacks/bounds.test.ts',
  'test/faults/killed-elsewhere.test.ts',
  'test/e2e/docs/run-console.test.ts',
  'test/faults/stuck-agent.test.ts',
  'test/attacks/names.test.ts',
  'test/faults/shared-memory.test.ts',
  // Not beside the first: programs that watch the time would notice how busy the machine is.
  'test/conformance/podman-criu.test.ts',
  'test/conformance/docker.test.ts',
  'test/conformance/podman.test.ts',
]

function rankOf({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((path) => moduleId.endsWith(`/${path}`))
  return at < 0 ? longest.length : at
}

/** Starts the longest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

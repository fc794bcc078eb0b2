import { describe, expectTypeOf, test } from 'vitest'
import type {
  Capability,
  CreateOptions,
  Environment,
  EnvironmentId,
  EnvironmentInfo,
  EnvironmentStatus,
  ExecResult,
  Forkpoint,
  Forks,
  Input,
  Output,
  PrunePlan,
  Snapshot,
  SnapshotId,
  SnapshotInfo,
  TreeNode,
} from '../../../src/index.ts'

// Checked by `tsc`, which `npm test` runs over the tests. Nothing happens when they run.

describe('the types that users see', () => {
  test('are inferred from the schemas, with ids that cannot be mixed up', () => {
    expectTypeOf<EnvironmentInfo['id']>().toEqualTypeOf<EnvironmentId>()
    expectTypeOf<EnvironmentInfo['head']>().toEqualTypeOf<SnapshotId | null>()
    expectTypeOf<EnvironmentInfo['status']>().toEqualTypeOf<EnvironmentStatus>()
    expectTypeOf<EnvironmentInfo['capabilities']>().toEqualTypeOf<readonly Capability[]>()
    expectTypeOf<SnapshotInfo['parent']>().toEqualTypeOf<SnapshotId | null>()
    expectTypeOf<PrunePlan['remove']>().toEqualTypeOf<readonly SnapshotId[]>()
    expectTypeOf<EnvironmentId>().not.toExtend<SnapshotId>()
  })

  test('contain no rows of the store', () => {
    expectTypeOf<EnvironmentInfo>().not.toHaveProperty('instance')
    expectTypeOf<SnapshotInfo>().not.toHaveProperty('image')
    expectTypeOf<SnapshotInfo>().not.toHaveProperty('origin')
  })

  test('cannot be written to', () => {
    const info = {} as EnvironmentInfo
    // @ts-expect-error: read-only
    const rename = () => (Object.assign(info, {}).name = 'x')
    // @ts-expect-error: read-only all the way down
    const push = () => info.net.allow.push('10.0.0.0/8')
    expectTypeOf(rename).toBeFunction()
    expectTypeOf(push).toBeFunction()
  })

  test('tell an environment from a snapshot', () => {
    expectTypeOf<Extract<TreeNode, { kind: 'environment' }>>().not.toHaveProperty('children')
    expectTypeOf<Awaited<ReturnType<Forkpoint['find']>>>().toEqualTypeOf<Environment | Snapshot>()
  })
})

describe('every method of a handle', () => {
  type Answers<T> = {
    [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
      ...args: never[]
    ) => infer R
      ? R
      : never
  }
  type Late = Promise<unknown> | AsyncIterable<unknown>

  test('is asynchronous, because the engine may be far away', () => {
    expectTypeOf<Omit<Answers<Forkpoint>, never>[keyof Answers<Forkpoint>]>().toExtend<Late>()
    expectTypeOf<Answers<Snapshot>[keyof Answers<Snapshot>]>().toExtend<Late>()
    // A terminal is itself a handle, which asks nothing until it is used.
    type Asked = Exclude<keyof Answers<Environment>, 'terminal'>
    expectTypeOf<Answers<Environment>[Asked]>().toExtend<Late>()
  })

  test('takes the input of its operation, a signal and a key', () => {
    expectTypeOf<Omit<CreateOptions, 'signal' | 'idempotencyKey' | 'from'>>().toEqualTypeOf<
      Omit<Input<'environment.create'>, 'from'>
    >()
    expectTypeOf<CreateOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>()
    expectTypeOf<Output<'snapshot.get'>>().toEqualTypeOf<SnapshotInfo>()
  })

  test('returns the declared type', () => {
    expectTypeOf<ReturnType<Environment['exec']>>().resolves.toEqualTypeOf<ExecResult>()
    expectTypeOf<ReturnType<Snapshot['fork']>>().resolves.toEqualTypeOf<Forks>()
    expectTypeOf<Forks[number]>().toEqualTypeOf<Environment>()
  })
})

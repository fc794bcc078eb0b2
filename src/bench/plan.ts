import { type GroupName, groupNames } from './results.ts'

export interface BenchOptions {
  readonly rounds?: number
  readonly only?: readonly GroupName[]
  /** few rounds and small sizes: to see that it works, not how fast */
  readonly quick?: boolean
  readonly soakMinutes?: number
}

/** What a run does. */
export interface Plan {
  readonly groups: readonly GroupName[]
  readonly rounds: number
  /** rounds that are not counted */
  readonly warmUps: number
  /** of the Python sessions of the operations, in MB */
  readonly pythonMb: readonly number[]
  /** the one that is compared with peers, forked many times and soaked */
  readonly sessionMb: number
  /** beside the shell and Python */
  readonly programs: readonly ('node' | 'postgres' | 'chromium')[]
  readonly sizesMb: readonly number[]
  readonly forks: readonly number[]
  readonly chainLength: number
  readonly soakMs: number
}

const full: Omit<Plan, 'groups'> = {
  rounds: 7,
  warmUps: 1,
  pythonMb: [64, 512, 2048],
  sessionMb: 512,
  programs: ['node', 'postgres', 'chromium'],
  sizesMb: [64, 256, 512, 1024, 2048],
  forks: [1, 2, 4, 8, 16, 32, 64, 100],
  chainLength: 300,
  soakMs: 20 * 60_000,
}

const quick: Omit<Plan, 'groups'> = {
  rounds: 1,
  warmUps: 0,
  pythonMb: [16],
  sessionMb: 16,
  programs: [],
  sizesMb: [16, 32],
  forks: [1, 2, 4],
  chainLength: 24,
  soakMs: 5000,
}

const mb = 2 ** 20

/** Snapshots at each end of the chain that are compared. */
export const chainEnd = 10

/** Sizes of which the machine could not hold a few at once are left out. */
export function planOf(options: BenchOptions, availableBytes: number): Plan {
  const base = options.quick ? quick : full
  const fits = (size: number) => size * mb * 4 <= availableBytes
  return {
    ...base,
    groups: options.only ?? defaultGroups(options),
    rounds: options.rounds ?? base.rounds,
    pythonMb: base.pythonMb.filter(fits),
    sizesMb: base.sizesMb.filter(fits),
    soakMs: options.soakMinutes === undefined ? base.soakMs : options.soakMinutes * 60_000,
  }
}

/** A soak takes long: only if it is asked for. */
function defaultGroups({ soakMinutes }: BenchOptions): GroupName[] {
  return groupNames.filter((name) => name !== 'soak' || soakMinutes !== undefined)
}

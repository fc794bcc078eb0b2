import { type BackendName, type GroupName, groupNames } from './results.ts'

export interface BenchOptions {
  readonly rounds?: number
  readonly only?: readonly GroupName[]
  /** few rounds and small sizes, to check that it works, not how fast it is */
  readonly quick?: boolean
  readonly soakMinutes?: number
  /** another checkout to take turns with */
  readonly against?: string
  /** compares these, and measures nothing else */
  readonly backends?: readonly BackendName[]
}

/** What a run does. */
export interface Plan {
  readonly groups: readonly GroupName[]
  readonly rounds: number
  /** rounds that are not counted */
  readonly warmUps: number
  /** sizes of the Python sessions, in MB */
  readonly pythonMb: readonly number[]
  /** the size that is compared with peers, forked many times and soaked */
  readonly sessionMb: number
  /** in addition to the shell and Python */
  readonly programs: readonly ('node' | 'postgres' | 'chromium')[]
  readonly sizesMb: readonly number[]
  readonly forks: readonly number[]
  readonly chainLength: number
  readonly writing: {
    /** files of the archive, which are also the contents of the packages */
    readonly files: number
    /** packages that `npm ci` installs */
    readonly packages: number
    readonly smallFiles: number
    readonly sequentialMb: number
    /** transactions of SQLite */
    readonly transactions: number
  }
  readonly pause: {
    readonly pythonMb: readonly number[]
    /** how much of them changes before the last snapshot */
    readonly changedMb: number
    readonly processes: readonly number[]
    readonly watches: number
    /** packages that are being installed */
    readonly packages: number
  }
  readonly soakMs: number
  readonly backends: {
    readonly names: readonly BackendName[]
    /** size of the Python session */
    readonly pythonMb: number
    /** commands per turn */
    readonly execs: number
  }
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
  writing: {
    files: 11_000,
    packages: 150,
    smallFiles: 30_000,
    sequentialMb: 1024,
    transactions: 1000,
  },
  pause: {
    pythonMb: [1, 64, 512, 2048],
    changedMb: 32,
    processes: [300, 2000],
    watches: 40_000,
    packages: 60,
  },
  soakMs: 20 * 60_000,
  backends: { names: [], pythonMb: 64, execs: 10 },
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
  writing: { files: 300, packages: 5, smallFiles: 400, sequentialMb: 16, transactions: 20 },
  pause: { pythonMb: [16], changedMb: 4, processes: [20], watches: 100, packages: 2 },
  soakMs: 5000,
  backends: { names: [], pythonMb: 16, execs: 3 },
}

const mb = 2 ** 20

/** Snapshots at each end of the chain that are compared. */
export const chainEnd = 10

/** Leaves out sizes if the machine could not hold several of them at the same time. */
export function planOf(options: BenchOptions, availableBytes: number): Plan {
  const base = options.quick ? quick : full
  const fits = (size: number) => size * mb * 4 <= availableBytes
  return {
    ...base,
    groups: options.only ?? defaultGroups(options),
    rounds: options.rounds ?? base.rounds,
    pythonMb: base.pythonMb.filter(fits),
    sizesMb: base.sizesMb.filter(fits),
    pause: { ...base.pause, pythonMb: base.pause.pythonMb.filter(fits) },
    backends: { ...base.backends, names: options.backends ?? [] },
    soakMs: options.soakMinutes === undefined ? base.soakMs : options.soakMinutes * 60_000,
  }
}

/** The groups in which another checkout takes its turns. */
const compared: readonly GroupName[] = ['operations', 'writing', 'pause']

/** A soak takes long, so it runs only on request. */
function defaultGroups({ soakMinutes, against, backends }: BenchOptions): GroupName[] {
  if (backends !== undefined) return ['backends']
  const onRequest: Partial<Record<GroupName, boolean>> = {
    soak: soakMinutes !== undefined,
    backends: false,
  }
  return groupNames.filter(
    (name) => onRequest[name] ?? (against === undefined || compared.includes(name)),
  )
}

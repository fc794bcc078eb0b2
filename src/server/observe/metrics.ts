import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Control } from '../../api/control.ts'
import { environmentStatuses } from '../../model/environment.ts'
import type { Service } from '../service.ts'

/** Counts and times for Prometheus. */
export interface Metrics {
  /** An operation has begun; call the result when it ends. */
  begin(operation: string): (status: number) => void
  /** How long an environment stood still for a snapshot. */
  paused(ms: number): void
  readonly type: string
  text(): Promise<string>
}

const secondBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function metrics({ control, figures }: Pick<Service, 'control' | 'figures'>): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'forkpoint_operation_seconds',
    help: 'how long operations took, by operation and status of the answer',
    labelNames: ['operation', 'status'],
    buckets: secondBuckets,
    registers,
  })
  const pauses = new Histogram({
    name: 'forkpoint_snapshot_pause_seconds',
    help: 'how long environments stood still for snapshots',
    buckets: secondBuckets,
    registers,
  })
  const underWay = new Gauge({
    name: 'forkpoint_operations_under_way',
    help: 'operations that have not ended yet',
    labelNames: ['operation'],
    registers,
  })
  addStoreGauges(control, registers)
  addFigures(figures, registers)
  return {
    begin: (operation) => {
      const since = performance.now()
      underWay.inc({ operation })
      return (status) => {
        underWay.dec({ operation })
        seconds.observe({ operation, status: String(status) }, (performance.now() - since) / 1000)
      }
    },
    paused: (ms) => pauses.observe(ms / 1000),
    type: registry.contentType,
    text: () => registry.metrics(),
  }
}

/** Read when somebody asks. */
function addStoreGauges(control: Control, registers: Registry[]): void {
  new Gauge({
    name: 'forkpoint_environments',
    help: 'environments, by status',
    labelNames: ['status'],
    registers,
    async collect() {
      const all = await control.call('environment.list', {})
      for (const status of environmentStatuses) {
        this.set({ status }, all.filter((each) => each.status === status).length)
      }
    },
  })
  new Gauge({
    name: 'forkpoint_spares_ready',
    help: 'branches that are prepared, by kind',
    labelNames: ['kind'],
    registers,
    async collect() {
      const all = await control.call('spares', {})
      for (const kind of ['restore', 'fork']) {
        this.set({ kind }, all.filter((each) => each.kind === kind).length)
      }
    },
  })
  new Gauge({
    name: 'forkpoint_bytes',
    help: 'disk and memory in use; shared: what snapshots use of others, counted for each',
    labelNames: ['of'],
    registers,
    async collect() {
      const { totals, snapshots } = await control.call('usage', {})
      this.set({ of: 'snapshots' }, totals.snapshotBytes)
      this.set({ of: 'environments' }, totals.environmentBytes)
      this.set({ of: 'memory' }, totals.memoryBytes)
      this.set({ of: 'images' }, totals.containerImageBytes)
      // Each would have to hold this itself if snapshots shared nothing.
      const shared = snapshots.reduce((sum, { sharedBytes }) => sum + (sharedBytes ?? 0), 0)
      this.set({ of: 'shared' }, shared)
    },
  })
}

/** What this process counts, read when somebody asks. */
function addFigures(figures: Service['figures'], registers: Registry[]): void {
  new Gauge({
    name: 'forkpoint_operations_waiting',
    help: 'operations that wait for admission',
    registers,
    collect() {
      this.set(figures().waiting)
    },
  })
  new Counter({
    name: 'forkpoint_spares_total',
    help: 'restores and forks that a spare was ready for (used), or not (missed)',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      const { spares } = figures()
      this.reset()
      for (const result of ['used', 'missed'] as const) {
        for (const kind of ['restore', 'fork'] as const) {
          this.inc({ kind, result }, spares[result][kind])
        }
      }
    },
  })
}

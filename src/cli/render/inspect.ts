import type { EnvironmentInfo, SnapshotInfo } from '../../index.ts'
import { formatSource } from '../../model/source.ts'
import { lostInWords } from '../../model/text/lost.ts'
import {
  formatAge,
  formatBytes,
  formatClock,
  formatDuration,
} from '../../model/values/quantities.ts'
import { listsInWords } from './network.ts'
import { policyFacts } from './policy.ts'

type Facts = readonly (readonly [string, string])[]

export function inspectFacts(info: EnvironmentInfo | SnapshotInfo, nowMs: number): Facts {
  return info.kind === 'environment' ? environmentFacts(info, nowMs) : snapshotFacts(info, nowMs)
}

function environmentFacts(info: EnvironmentInfo, nowMs: number): Facts {
  const { id, name, status, backend, source, net, head, workdir, hostname } = info
  return [
    ['environment', name ?? id],
    ['id', id],
    ['status', status],
    ['created', whenOf(info.createdAt, nowMs)],
    ['source', formatSource(source)],
    ['backend', backend],
    ['head', head ?? 'none: no snapshot was taken of it'],
    ['network', net.mode + listsInWords(net)],
    ...limitFacts(info.limits),
    ['workdir', workdir],
    ['hostname', hostname],
    ...pairs('variable', info.env),
    ...pairs('label', info.labels),
    ...(info.command === undefined ? [] : [['command', info.command.join(' ')] as const]),
    ...policyFacts(info.policy, nowMs),
    ...info.lost.map((each) => ['lost', lostInWords(each)] as const),
    ['can', info.capabilities.join(', ')],
  ]
}

function snapshotFacts(info: SnapshotInfo, nowMs: number): Facts {
  const { id, name, parent, environmentId, status, durable, proof, captured, timing } = info
  const { filesBytes, imagesBytes } = info.sizes
  return [
    ['snapshot', name ?? id],
    ['id', id],
    ['status', durable ? `${status}, durable` : status],
    ['restores', proof],
    ['taken', `${whenOf(info.createdAt, nowMs)}, in ${formatDuration(timing.totalMs)}`],
    ['paused for', formatDuration(timing.pauseMs)],
    ['taken by', info.by],
    ['of', environmentId],
    ['parent', parent ?? 'none'],
    ['holds', captured.join(', ')],
    ['files', filesBytes === null ? 'not counted yet' : formatBytes(filesBytes)],
    ['memory', formatBytes(imagesBytes)],
    ...(info.message === '' ? [] : [['message', info.message] as const]),
    ...pairs('label', info.labels),
    ...info.lost.map((each) => ['lost', lostInWords(each)] as const),
  ]
}

function whenOf(at: number, nowMs: number): string {
  return `${formatClock(at, nowMs)} (${formatAge(at, nowMs)} ago)`
}

function limitFacts(limits: EnvironmentInfo['limits']): Facts {
  const bytes = (key: keyof typeof limits, title: string, per = ''): Facts => {
    const value = limits[key]
    return value === undefined ? [] : [[title, `at most ${formatBytes(value)}${per}`]]
  }
  return [
    ...bytes('memoryBytes', 'memory'),
    ...(limits.cpus === undefined ? [] : [['cpus', `at most ${limits.cpus}`] as const]),
    ...(limits.pids === undefined ? [] : [['processes', `at most ${limits.pids}`] as const]),
    ...bytes('diskBytes', 'disk'),
    ...bytes('ioReadBytes', 'reads', '/s'),
    ...bytes('ioWriteBytes', 'writes', '/s'),
    ...bytes('netBytes', 'traffic', '/s'),
  ]
}

function pairs(title: string, map: Readonly<Record<string, string>>): Facts {
  return Object.entries(map).map(([key, value]) => [title, `${key}=${value}`])
}

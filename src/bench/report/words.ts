import { formatBytes, formatDuration } from '../../model/values/quantities.ts'
import type { By, PromiseResult, Series } from '../results.ts'

export const titles: Readonly<Record<By, string>> = {
  forkpoint: 'Forkpoint',
  ext4: 'Forkpoint on ext4',
  before: 'before',
  criu: 'plain CRIU',
  podman: 'podman checkpoint/restore',
  docker: 'docker commit + run',
  copy: 'cp -a + restart',
  'native backend': 'native',
  'docker backend': 'docker',
  'docker-processes backend': 'docker-processes',
  'podman backend': 'podman',
  'podman-criu backend': 'podman-criu',
  'criu backend': 'criu',
  'gvisor backend': 'gvisor',
}

export function valueText(unit: Series['unit'], value: number): string {
  return unit === 'ms' ? formatDuration(value) : formatBytes(value)
}

export function promisedText({ promised, unit }: PromiseResult): string {
  return 'atLeast' in promised
    ? `at least ${quantity(unit, promised.atLeast)}`
    : `under ${quantity(unit, promised.below)}`
}

export function measuredText({ measured, unit }: PromiseResult): string {
  return measured === null ? 'not measured' : quantity(unit, measured)
}

export function metText({ met }: PromiseResult): string {
  return met === null ? '' : met ? 'met' : 'MISSED'
}

export function timesText(times: number | null): string {
  return times === null ? '' : quantity('times', times)
}

function quantity(unit: PromiseResult['unit'], value: number): string {
  switch (unit) {
    case 'times':
      return `${shortNumber(value)}×`
    case 'percent':
      return `${shortNumber(value)} %`
    case 'bytes':
      return formatBytes(value)
    case 'ms':
      return formatDuration(value)
  }
}

function shortNumber(value: number): string {
  return String(Number(value.toPrecision(value >= 100 ? 3 : 2)))
}

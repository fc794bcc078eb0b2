import { formatBytes, formatDuration } from '../../model/quantities.ts'
import type { By, Series, Verdict } from '../results.ts'

export const titles: Readonly<Record<By, string>> = {
  forkpoint: 'Forkpoint',
  criu: 'plain CRIU',
  podman: 'podman checkpoint/restore',
  docker: 'docker commit + run',
  copy: 'cp -a + restart',
}

export function valueText(unit: Series['unit'], value: number): string {
  return unit === 'ms' ? formatDuration(value) : formatBytes(value)
}

export function promisedText({ promised, unit }: Verdict): string {
  return 'atLeast' in promised
    ? `at least ${quantity(unit, promised.atLeast)}`
    : `under ${quantity(unit, promised.below)}`
}

export function measuredText({ measured, unit }: Verdict): string {
  return measured === null ? 'not measured' : quantity(unit, measured)
}

export function metText({ met }: Verdict): string {
  return met === null ? '' : met ? 'met' : 'MISSED'
}

function quantity(unit: Verdict['unit'], value: number): string {
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

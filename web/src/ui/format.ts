const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes)
  const power = Math.min(units.length - 1, size < 1024 ? 0 : Math.floor(Math.log2(size) / 10))
  const value = bytes / 1024 ** power
  const digits = power === 0 || Math.abs(value) >= 100 ? 0 : 1
  return `${value.toFixed(digits)} ${units[power]}`
}

const steps = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/** How long ago, in one unit: `3 min`. */
export function formatAge(ms: number): string {
  for (const [unitMs, unit] of steps) if (ms >= unitMs) return `${Math.floor(ms / unitMs)} ${unit}`
  return 'now'
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function formatTime(time: number): string {
  return clock.format(time)
}
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 10_000) return `${Math.round(ms)} ms`
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000)]
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return `${minutes} min ${Math.floor(ms / 1000) % 60} s`
}

import type { SettingKey } from '../../config/schema.ts'
import { formatBytes, formatDuration } from '../../model/quantities.ts'

/** Longer lists are counted: the mask has dozens of entries, and `config mask` shows them. */
const longestList = 3

/** A setting's value as a user would write it. */
export function formatSetting(key: SettingKey, value: unknown): string {
  if (value === null) return key === 'criu' ? 'auto' : 'none'
  if (typeof value === 'number') return formatNumber(key, value)
  if (!Array.isArray(value)) return String(value)
  if (value.length > longestList) return `${value.length} entries`
  return value.length === 0 ? '-' : value.join(', ')
}

const sizes: ReadonlySet<SettingKey> = new Set(['limits.memory', 'volume.size', 'spares.memory'])

function formatNumber(key: SettingKey, value: number): string {
  if (sizes.has(key)) return formatBytes(value)
  return key === 'exec.timeout' ? formatDuration(value) : String(value)
}

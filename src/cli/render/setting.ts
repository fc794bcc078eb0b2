import { type SettingKey, schema } from '../../config/schema.ts'
import { formatBytes, formatDuration } from '../../model/values/quantities.ts'

/** Longer lists are only counted: the mask has dozens of entries, which `config mask` shows. */
const longestList = 3

/** A setting's value as a user would write it. */
export function formatSetting(key: SettingKey, value: unknown): string {
  if (value === null) return schema[key].accepts.endsWith('auto') ? 'auto' : 'none'
  if (typeof value === 'number') return formatNumber(key, value)
  if (!Array.isArray(value)) return String(value)
  if (value.length > longestList) return `${value.length} entries`
  return value.length === 0 ? '-' : value.join(', ')
}

const sizes: ReadonlySet<SettingKey> = new Set([
  'limits.memory',
  'limits.disk',
  'admission.memory',
  'admission.disk',
  'admission.each.memory',
  'admission.each.disk',
  'limits.ioRead',
  'limits.ioWrite',
  'limits.netRate',
  'volume.size',
  'spares.memory',
])

function formatNumber(key: SettingKey, value: number): string {
  if (sizes.has(key)) return formatBytes(value)
  return key === 'exec.timeout' ? formatDuration(value) : String(value)
}

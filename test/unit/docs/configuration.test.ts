import { describe, expect, test } from 'vitest'
import { type SettingKey, schema, settingKeys, variableOf } from '../../../src/config/schema.ts'
import { formatBytes } from '../../../src/model/values/quantities.ts'
import { readPage, sectionOf } from './markdown.ts'

const page = readPage('docs/configuration.md')

/** Defaults that depend on the machine or are too long for a table. */
const worded: Partial<Record<SettingKey, string>> = {
  'limits.memory': "three quarters of the machine's memory",
  mask: 'the [default mask](security.md#the-mask)',
}

function defaultOf(key: SettingKey): string {
  const words = worded[key]
  if (words !== undefined) return words
  const value = schema[key].default({ memoryBytes: 0 })
  if (value === null) return schema[key].accepts.endsWith('auto') ? '`auto`' : '`none`'
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.join(', ')
  const isSize = key === 'volume.size' || key === 'spares.memory'
  if (isSize && typeof value === 'number') return formatBytes(value)
  return `\`${String(value)}\``
}

function rowOf(key: SettingKey): string {
  const { doc, accepts } = schema[key]
  const meaning = doc.replace(/ \(default: .*\)$/, '')
  return `| \`${key}\` | \`${variableOf(key)}\` | ${defaultOf(key)} | ${meaning} | ${accepts} |`
}

describe('the page on configuration', () => {
  test('shows every setting with its variable, default, meaning and accepted values', () => {
    const rows = sectionOf(page, 'Every setting')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    expect(rows).toEqual(settingKeys.map(rowOf))
  })
})

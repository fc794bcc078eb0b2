import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { contract, type OperationName } from '../../../src/api/contract/contract.ts'

const operations = Object.entries(contract) as [OperationName, (typeof contract)[OperationName]][]

describe.each(operations)('%s', (_, { scope, input, output }) => {
  test('says which scope may call it', () => {
    expect(['read', 'exec', 'branch', 'admin']).toContain(scope)
  })

  test('has an input that JSON Schema can express, with its fields by name', () => {
    const schema = z.toJSONSchema(input, { io: 'input' })
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
    for (const field of Object.values(schema.properties ?? {})) {
      expect(field).toEqual(expect.any(Object))
    }
  })

  test('has an output that JSON Schema can express', () => {
    expect(z.toJSONSchema(output, { io: 'input' })).not.toEqual({})
  })

  test('refuses unknown fields', () => {
    expect(input.safeParse({ nonsense: 1 }).success).toBe(false)
    expect(input.safeParse(null).success).toBe(false)
  })
})

test('an input with every kind of field is described with its types', () => {
  const schema = z.toJSONSchema(contract['environment.create'].input, { io: 'input' })
  expect(schema.properties).toMatchObject({
    name: { type: 'string' },
    net: { enum: ['none', 'nat'] },
    labels: { type: 'object' },
    netAllow: { type: 'array', items: { type: 'string' } },
    limits: { type: 'object', properties: { memoryBytes: { type: 'number' } } },
  })
  expect(schema.required ?? []).toEqual([])
  const snapshot = z.toJSONSchema(contract['environment.snapshot'].input, { io: 'input' })
  expect(snapshot.required).toEqual(['id'])
})

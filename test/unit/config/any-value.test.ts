import fc from 'fast-check'
import { expect, test } from 'vitest'
import { settingKeys, variableOf } from '../../../src/config/schema.ts'
import { ForkpointError } from '../../../src/model/errors.ts'
import { anyValue, oddValues } from '../../support/hostile-values.ts'
import { load } from './temporary-config.ts'

function settle(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(ForkpointError)
    expect((error as ForkpointError).message.length).toBeLessThan(600)
  }
}

test.each(settingKeys)('any value of %s is accepted, or refused with what is accepted', (key) => {
  for (const value of oddValues) settle(() => load({ flags: { [key]: value } }))
  fc.assert(fc.property(anyValue, (value) => settle(() => load({ flags: { [key]: value } }))))
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.double().map(String))
  fc.assert(fc.property(text, (value) => settle(() => load({ env: { [variableOf(key)]: value } }))))
})

test('an unknown setting is refused, whatever it is called', () => {
  fc.assert(fc.property(fc.string(), (key) => settle(() => load({ flags: { [key]: 1 } }))))
})

// The program and the catalogue know the same attacks, and each pose has its promise.
import { expect, test } from 'vitest'
import type { allPromises } from './catalogue/all.ts'
import { insidePromises } from './catalogue/inside.ts'
import { namePromises, rootNamePromises } from './catalogue/names.ts'
import { natPromises } from './catalogue/network.ts'
import { programAttacks } from './support/attack-program.ts'

const namesOf = (promises: typeof allPromises) => promises.flatMap(({ attacks }) => attacks).sort()

test('every attack of the program has a promise, and every promise its attacks', () => {
  expect(programAttacks('list').sort()).toEqual(namesOf([...insidePromises, ...natPromises]))
  expect(programAttacks('poses').sort()).toEqual(namesOf([...namePromises, ...rootNamePromises]))
})

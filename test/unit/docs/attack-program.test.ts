// The program and the catalogue know the same attacks, and each pose has a promise.
import { expect, test } from 'vitest'
import type { allPromises } from '../../attacks/catalogue/all.ts'
import { insidePromises } from '../../attacks/catalogue/inside.ts'
import { namePromises, rootNamePromises } from '../../attacks/catalogue/names.ts'
import { natPromises } from '../../attacks/catalogue/network.ts'
import { programAttacks } from '../../attacks/support/attack-program.ts'

const namesOf = (promises: typeof allPromises) => promises.flatMap(({ attacks }) => attacks).sort()

test('every attack of the program has a promise, and every promise its attacks', () => {
  expect(programAttacks('list').sort()).toEqual(namesOf([...insidePromises, ...natPromises]))
  expect(programAttacks('poses').sort()).toEqual(namesOf([...namePromises, ...rootNamePromises]))
})

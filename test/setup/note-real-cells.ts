// Records for every test whether it ran on a real cell, according to the stores of its homes.
import { afterEach, beforeEach } from 'vitest'
import '../support/evidence.ts'
import { type Cells, cellsOfThisFile } from '../support/known-homes.ts'

let before: Cells

beforeEach(() => {
  before = cellsOfThisFile()
})

afterEach(({ task }) => {
  if (before.alive > 0 || cellsOfThisFile().made > before.made) task.meta.onRealCell = true
})

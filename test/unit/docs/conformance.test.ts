import { describe, expect, test } from 'vitest'
import { productRegistry } from '../../../src/backends/registry.ts'
import { backendNames } from '../../../src/bench/results.ts'
import { allCases } from '../../conformance/all-cases.ts'
import { casesOn, type Matrix, matrixBackends, matrixText, withMatrix } from '../../setup/matrix.ts'
import { readPage } from './markdown.ts'

describe('the page on conformance', () => {
  const page = readPage('docs/conformance.md')

  test('has the cases of the suite, in its order', () => {
    expect(casesOn(page.text)).toEqual(allCases.map(({ title }) => title))
  })

  test('shows no case that failed, and no backend that was not run', () => {
    const table = page.text.split('<!-- matrix')[1]?.split('<!-- end')[0] ?? ''
    expect(table).not.toContain('FAILED')
    expect(table).not.toContain('not run')
  })
})

describe('the matrix', () => {
  const matrix: Matrix = {
    backends: ['native', 'docker'],
    rows: [{ case: 'it works', cells: ['kept', 'not run'] }],
    notRun: [{ backend: 'docker', why: 'dockerd --version: not found' }],
  }

  test('has every backend of the product, and so has the benchmark', () => {
    expect(matrixBackends.toSorted()).toEqual(Object.keys(productRegistry.makers).toSorted())
    expect(backendNames).toEqual(matrixBackends)
  })

  test('names what was not run, with the words of the probe', () => {
    expect(matrixText(matrix)).toContain('NOT RUN: docker: dockerd --version: not found')
    expect(matrixText(matrix)).toContain('conformance: 1 cases (native 1, docker 0 kept)')
  })

  test('replaces the one on a page', () => {
    const written = withMatrix(page('old'), matrix)
    expect(casesOn(written)).toEqual(['it works'])
    expect(written).not.toContain('old')
    expect(withMatrix(written, matrix)).toBe(written)
  })

  const page = (text: string) =>
    `before\n<!-- matrix: written by npm run conformance -->\n${text}\n<!-- end of matrix -->\nafter\n`
})

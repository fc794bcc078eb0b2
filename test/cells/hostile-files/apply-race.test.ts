import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { unless } from '../../support/evidence.ts'
import { applyView } from '../view/lab-copies.ts'
import { OverlayLab, whyNoLayers } from '../view/overlay-lab.ts'

/** Alternates between the directory and a symlink in its place. */
const swapping = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const { workerData: { place, aside, victim } } = require('node:worker_threads')
for (;;) {
  try { renameSync(place, aside); symlinkSync(victim, place) } catch {}
  try { unlinkSync(place); renameSync(aside, place) } catch {}
}`

describe('apply while a directory is replaced by a symlink', unless(whyNoLayers), () => {
  test('never writes, removes or changes anything through it', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      mkdirSync(join(root, 'w/src'), { recursive: true })
      for (const name of ['a', 'b', 'c']) writeFileSync(join(root, 'w/src', name), name)
    })
    const view = lab.grow(base, (root) => {
      writeFileSync(join(root, 'w/src/a'), 'theirs')
      rmSync(join(root, 'w/src/b'))
      writeFileSync(join(root, 'w/src/new'), 'theirs')
    })
    const [target, victim, aside] = [lab.directory(), lab.directory(), lab.directory()]
    // The same names and contents, so that whoever follows the link finds everything as expected.
    for (const name of ['a', 'b', 'c']) writeFileSync(join(victim, name), name)
    const spec = { from: base, to: view, workdir: '/w' }
    let swapped = 0
    for (let round = 0; round < 20; round += 1) {
      rmSync(join(target, 'src'), { recursive: true, force: true })
      rmSync(join(aside, 'src'), { recursive: true, force: true })
      mkdirSync(join(target, 'src'))
      for (const name of ['a', 'b', 'c']) writeFileSync(join(target, 'src', name), name)
      const places = { place: join(target, 'src'), aside: join(aside, 'src'), victim }
      const worker = new Worker(swapping, { eval: true, workerData: places })
      const outcome = applyView(lab, spec, target)
      swapped += await outcome.then(
        () => 0,
        () => 1,
      )
      await worker.terminate()
      expect(readdirSync(victim).sort()).toEqual(['a', 'b', 'c'])
      expect(readFileSync(join(victim, 'a'), 'utf8')).toBe('a')
    }
    expect(existsSync(victim)).toBe(true)
    console.log(`${swapped} of 20 applies hit the swap`)
  })
})

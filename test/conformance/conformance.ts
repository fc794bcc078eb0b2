import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { matrixBackends } from '../setup/matrix.ts'
import { noteConformance, unless } from '../support/evidence.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { allCases } from './all-cases.ts'
import { whyNotHere } from './probes.ts'
import { promises } from './promises/all.ts'
import { check, expectNothingLeft } from './promises/promise.ts'
import { makeSources } from './sources.ts'
import { type BackendUnderTest, openSubject, type Places, type Subject } from './subject.ts'

/** What a backend needs besides directories: an engine, say. */
export interface Surroundings extends AsyncDisposable {
  readonly places: Partial<Omit<Places, 'home'>>
}

type Surround = (directory: TemporaryDirectory) => Promise<Surroundings>

const nothing: Surround = async () => ({ places: {}, [Symbol.asyncDispose]: async () => {} })

/** One suite for every backend; its capabilities say what to expect of it. */
export function conformance(backend: BackendUnderTest, surround: Surround = nothing): void {
  // The backend of the tests is not in the product, and has no moments to be killed at.
  const all = matrixBackends.includes(backend) ? allCases : promises
  describe(`the ${backend} backend`, unless(whyNotHere(backend)), () => {
    let directory: TemporaryDirectory
    let home: string
    let subject: Subject
    let surroundings: Surroundings
    beforeAll(async () => {
      home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', `conformance-${backend}-`))
      directory = new TemporaryDirectory()
      surroundings = await surround(directory)
      const places = { home, ...makeSources(directory), ...surroundings.places }
      subject = await openSubject(backend, places)
    })
    afterAll(async () => {
      await subject.removeAll()
      await subject[Symbol.asyncDispose]()
      await surroundings[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
      await rm(home, { recursive: true })
    })
    for (const promise of all) {
      const note = { backend, case: promise.title }
      const meta = { conformance: { ...note, outcome: 'not run' } } as const
      test(promise.title, { meta }, async () => {
        try {
          noteConformance({ ...note, outcome: await check(promise, subject) })
        } finally {
          await expectNothingLeft(subject)
        }
      })
    }
  })
}

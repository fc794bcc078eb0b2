import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runExample } from '../run-example.ts'
import type { Subject } from '../subject.ts'
import type { BackendPromise } from './promise.ts'

const methods: Readonly<Partial<Record<Subject['backend'], string>>> = {
  'docker-processes': 'docker_build',
  native: 'waypoint_build',
  docker: 'docker_build',
  podman: 'podman_build',
  'podman-criu': 'hybrid_build',
  gvisor: 'gvisor_build',
}

const answer = 'A: 5 3 9 7 changed\nB: 5 3 9 1 debug\n'

/** A directory with a Dockerfile on the same base as that of the suite, which has a user of its own. */
function makeTask({ dockerfile, places }: Subject): string {
  const [, base = ''] = /^FROM (.*)$/m.exec(readFileSync(`${dockerfile}/Dockerfile`, 'utf8')) ?? []
  const directory = mkdtempSync(join(places.home, 'task-'))
  writeFileSync(join(directory, 'Dockerfile'), `FROM ${base}\nRUN mkdir /task\nWORKDIR /task\n`)
  return directory
}

/** The same program of an agent gives the same answer everywhere. */
export const examples: readonly BackendPromise[] = [
  {
    title: "an agent's program that begins with a Dockerfile gives the right answer",
    needs: ['from-dockerfile', 'restore'],
    asks: (subject) => subject.create({ from: `dockerfile:${subject.dockerfile}` }),
    keeps: async (subject) => {
      const method = methods[subject.backend]
      const create = { backend: subject.backend }
      const dockerfileDir = makeTask(subject)
      try {
        assert.equal(await runExample(subject, { method, dockerfileDir, create }), answer)
      } finally {
        rmSync(dockerfileDir, { recursive: true })
      }
    },
  },
  {
    title: 'the same program that begins with a directory gives the same answer',
    needs: ['from-dir', 'restore'],
    asks: (subject) => subject.create({ from: `dir:${subject.workspace}` }),
    keeps: async (subject) => {
      const create = { backend: subject.backend, from: `dir:${subject.workspace}` }
      assert.equal(await runExample(subject, { method: 'waypoint_build', create }), answer)
    },
  },
]

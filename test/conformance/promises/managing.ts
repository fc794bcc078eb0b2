import assert from 'node:assert/strict'
import { createEnvManager, type EnvManager, NotFoundError } from '../../../src/index.ts'
import type { Subject } from '../subject.ts'
import type { BackendPromise } from './promise.ts'

/** A manager with a new environment of the suite, as StateFork's users know it. */
async function manage(
  subject: Subject,
  decider: 'always' | 'never' = 'always',
): Promise<EnvManager> {
  const { id } = await subject.create()
  const { forkpoint } = subject
  return await createEnvManager({ method: 'waypoint_attach', sessionId: id, forkpoint, decider })
}

async function output(manager: EnvManager, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await manager.execCommand(command)
  assert.equal(exitCode, 0, `${command}: ${stderr}`)
  return stdout
}

/** Neither a process, as it is above the kernel's limit, nor a container. */
const nowhere = '4194305'

/** The loop of an agent is written once, and runs on every backend. */
export const managing: readonly BackendPromise[] = [
  {
    title: 'an agent prepares, takes a snapshot, tries A, restores, and tries B',
    needs: ['filesystem', 'restore'],
    asks: async (subject) => {
      const manager = await manage(subject)
      await manager.restore(await manager.snapshot())
    },
    keeps: async (subject) => {
      const manager = await manage(subject)
      await output(manager, 'echo prepared > data')
      await output(manager, 'export MODE=debug')
      const id = await manager.snapshot()
      assert.equal(await output(manager, 'echo A >> data; cat data'), 'prepared\nA\n')
      await manager.restore(id)
      assert.equal(await output(manager, 'echo B >> data; cat data'), 'prepared\nB\n')
      assert.equal(await output(manager, 'echo $MODE'), 'debug\n')
    },
  },
  {
    title: 'what has ended cannot be attached, and leaves nothing',
    needs: ['attach'],
    asks: ({ forkpoint }) => forkpoint.attach({ target: nowhere }),
    keeps: async ({ forkpoint }) => {
      await assert.rejects(forkpoint.attach({ target: nowhere, name: 'free' }), NotFoundError)
      assert.deepEqual(await forkpoint.list(), [])
    },
  },
  {
    title: 'a virtual snapshot is replayed, restored and forked',
    needs: ['filesystem', 'restore', 'fork'],
    keeps: async (subject) => {
      const manager = await manage(subject, 'never')
      await manager.snapshot()
      await output(manager, 'echo one > file')
      const { id, kind } = await manager.takeSnapshot()
      assert.equal(kind, 'virtual')
      await output(manager, 'echo two > file')
      await manager.restore(id)
      assert.equal(await output(manager, 'cat file'), 'one\n')
      const [branch] = await manager.fork(id)
      assert.ok(branch)
      const { stdout } = await manager.execOnBranch(branch.id, 'echo more >> file; cat file')
      assert.equal(stdout, 'one\nmore\n')
      assert.equal(await output(manager, 'cat file'), 'one\n')
      const parked = await manager.parkBranch(branch.id)
      assert.ok((await manager.listSnapshots()).some((node) => node.id === parked))
      await manager.cleanup()
    },
  },
]

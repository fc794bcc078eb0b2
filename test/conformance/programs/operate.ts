// Does one operation in a process of its own, which the test kills on the way:
//   node operate.ts BACKEND PLACES VERB NAME [SNAPSHOT]
import { flushCompileCache } from 'node:module'
import { type BackendUnderTest, openSubject, type Places, registries } from '../subject.ts'

// This process is killed, and would leave nothing in the cache.
flushCompileCache()

const [backend = '', places = '', verb = '', name = '', snapshot = ''] = process.argv.slice(2)

function isKnown(given: string): given is BackendUnderTest {
  return Object.hasOwn(registries, given)
}

if (!isKnown(backend)) throw new Error(`no such backend: ${backend}`)
const given: Places = JSON.parse(places)
await using subject = await openSubject(backend, given)
const { forkpoint } = subject

const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
  create: () => subject.create({ name }),
  snapshot: async () => (await forkpoint.get(name)).snapshot(),
  fork: async () => (await forkpoint.snapshot(snapshot)).fork(1, { name }),
  restore: async () => (await forkpoint.get(name)).restore(snapshot),
  remove: async () => (await forkpoint.get(name)).remove(),
}
const operate = verbs[verb]
if (operate === undefined) throw new Error(`no such operation: ${verb}`)
await operate()

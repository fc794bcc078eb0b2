// What the tests' child processes do: node program.ts <verb> <home> [argument...]
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EnvironmentId } from '../../../../src/model/ids.ts'
import { openStore } from '../../../../src/store/open-store.ts'

type Verb = (home: string, ...args: string[]) => Promise<void>

const verbs: Record<string, Verb> = {
  /** Opens many stores, each at the same moment as the other processes do. */
  open: async (home, at = '', count = '') => {
    waitFor(at)
    for (let i = 0; i < Number(count); i++) openStore(join(home, String(i))).close()
  },

  /** Takes leases, says so, and keeps them until it is killed. */
  hold: async (home, ...resources) => {
    const { leases } = openStore(home)
    for (const resource of resources) await leases.acquire(resource, 'holding for a test')
    await sayAndStay('held')
  },

  /** Tries each lease once, says which it got, and keeps those until it is killed. */
  inherit: async (home, at = '', ...resources) => {
    const { leases } = openStore(home)
    waitFor(at)
    await sayAndStay(JSON.stringify(resources.filter((one) => leases.tryAcquire(one, 'heir'))))
  },

  /** Reserves memory, says so, and stays until it is killed. */
  reserve: async (home, bytes = '') => {
    openStore(home).reservations.set('of a test', Number(bytes))
    await sayAndStay('reserved')
  },

  /** Adds one to the number in a file, in a way that loses counts on overlap. */
  count: async (home, path = '', times = '') => {
    using store = openStore(home)
    for (let i = 0; i < Number(times); i++) {
      await using _lease = await store.leases.acquire('counter', 'counting')
      const value = Number(readFileSync(path, 'utf8'))
      await sleep(1)
      writeFileSync(path, String(value + 1))
    }
  },

  /** Changes one field of an environment again and again, and notices if a change is undone. */
  change: async (home, at = '', id = '', field = '') => {
    using store = openStore(home)
    waitFor(at)
    for (let i = 0; i < 200; i++) {
      const changed = store.environments.update(id as EnvironmentId, { [field]: `/${i}` })
      const seen = store.environments.get(changed.id)
      if (JSON.stringify(seen).includes(`"${field}":"/${i}"`)) continue
      throw new Error(`${field} /${i} was undone`)
    }
  },

  /** Begins operations, says so, and stays until it is killed. */
  begin: async (home, kind = '', count = '1') => {
    const { journal } = openStore(home)
    const begin = () => journal.begin(kind, null, { bytes: 1 }).id
    const ids = Array.from({ length: Number(count) }, begin)
    await sayAndStay(JSON.stringify(ids))
  },

  /** Claims every abandoned operation, says which it got, and stays until it is killed. */
  claim: async (home, at = '') => {
    const { journal } = openStore(home)
    const found = journal.abandoned()
    waitFor(at)
    await sayAndStay(JSON.stringify(found.flatMap((one) => journal.claim(one)?.id ?? [])))
  },
}

/** Spins until a wall-clock time, so that processes race even if they started at different times. */
function waitFor(at: string): void {
  while (Date.now() < Number(at));
}

async function sayAndStay(text: string): Promise<void> {
  console.log(text)
  await sleep(60_000)
}

const [, , verb = '', home = '', ...args] = process.argv
const run = verbs[verb]
if (run === undefined) throw new Error(`no verb ${verb}`)
await run(home, ...args)

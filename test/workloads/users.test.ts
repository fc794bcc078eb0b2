import { expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { run, runUntilDone, wordsOf } from '../support/workloads/run.ts'

const users = ['root', 'daemon', 'nobody', 'postgres']
const home = (user: string) => `/var/tmp/of-${user}`

/** Follows a file of its user, and copies an unlinked one: what it writes shows whose it is. */
const clerk = `
umask 077; echo $$ > pid; echo kept > note; exec 9< note; rm note
tail -n +1 -f words | while read -r word; do cat /proc/self/fd/9 > "$word.entry"; done
`

async function startClerk(env: Environment, user: string): Promise<void> {
  await run(
    env,
    `install -d -o ${user} ${home(user)}; install -o ${user} /dev/null ${home(user)}/words`,
  )
  await env.spawn(['bash', '-c', clerk], { mode: 'process', user, cwd: home(user) })
  await runUntilDone(env, `test -s ${home(user)}/pid`)
}

test('processes of several users keep their users', () =>
  branchThreeWays({
    start: async (env) => {
      for (const user of users) await startClerk(env, user)
      await run(env, 'seen=""')
    },
    check: async (env) => {
      for (const user of users) {
        const status = `/proc/$(cat ${home(user)}/pid)/status`
        const ids = await run(env, `awk '/^(Uid|Gid|Groups):/ { $1 = ""; print }' ${status}`)
        const [uids = '', gids = '', groups = ''] = ids.split('\n')
        const uid = await run(env, `id -u ${user}`)
        expect(wordsOf(uids)).toEqual(Array(4).fill(uid))
        expect(wordsOf(gids)).toEqual(Array(4).fill(await run(env, `id -g ${user}`)))
        expect(wordsOf(groups).toSorted()).toEqual(
          wordsOf(await run(env, `id -G ${user}`)).toSorted(),
        )
        const capabilities = await run(env, `awk '/^CapEff/ { print $2 }' ${status}`)
        expect(Number(`0x${capabilities}`) > 0).toBe(user === 'root')
      }
    },
    mark: async (env, word) => {
      for (const user of users) await run(env, `echo ${word} >> ${home(user)}/words`)
      await run(env, `seen+="${word} "`)
      for (const user of users) await runUntilDone(env, `test -s ${home(user)}/${word}.entry`)
    },
    marks: async (env) => {
      const words = wordsOf(await run(env, 'echo "$seen"'))
      for (const user of users) {
        const entries = await run(
          env,
          `cd ${home(user)}; stat -c '%U %a %s %n' *.entry 2> /dev/null || true`,
        )
        const expected = words.map((word) => `${user} 600 5 ${word}.entry`)
        expect(entries.split('\n').filter(Boolean)).toEqual(expected.toSorted())
      }
      return words
    },
  }))

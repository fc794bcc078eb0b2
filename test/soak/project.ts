// The project that the agent works on: sources in C with a Makefile, a server with a database.
import { readFileSync } from 'node:fs'
import type { Environment } from '../../src/index.ts'
import type { Random } from '../fuzz/random.ts'
import { run, runUntilDone } from '../support/workloads/run.ts'
import { Model } from './model.ts'

const makefile = `program: main.c value.h
	cc -O1 -o program main.c
`
const main = '#include "value.h"\n#include <stdio.h>\nint main(void) { printf("%d\\n", VALUE); }\n'

export async function startProject(env: Environment): Promise<Model> {
  await run(env, 'mkdir -p /root/loop/src; cd /root/loop/src')
  const model = new Model(new Map(), new Map(), 0)
  await writeFile(env, model, 'Makefile', makefile)
  await writeFile(env, model, 'main.c', main)
  await writeFile(env, model, 'value.h', '#define VALUE 0\n')
  await env.files.write('/root/loop/server.py', serverSource())
  await run(env, '/usr/bin/python3 -u /root/loop/server.py > /root/loop/log 2>&1 &')
  await runUntilDone(env, 'grep -q listening /root/loop/log')
  return model
}

const serverSource = () => readFileSync(new URL('agent-server.py', import.meta.url))

/** Everything there is, in the words of `Model.describe`. Built files are no part of it. */
export async function look(env: Environment): Promise<string> {
  const files = "find . -type f ! -name program -printf '%P\\n' | sort | xargs sha1sum | sort"
  const rows = "sqlite3 ../data.db 'select * from rows order by key; pragma integrity_check'"
  return await run(env, `cd /root/loop/src; ${files}; ${rows}; ${ask('state')}`)
}

const ask = (path: string) => `curl -sS --max-time 20 http://127.0.0.1:8000/${path}`

async function writeFile(env: Environment, model: Model, path: string, text: string) {
  await env.files.write(`/root/loop/src/${path}`, text)
  model.files.set(path, text)
}

/** One thing that an agent does, in the environment and in its model. */
export type Step = (env: Environment, model: Model, random: Random) => Promise<void>

export const steps: Readonly<Record<string, Step>> = {
  edit: async (env, model, random) => {
    const text = random.bytes(random.int(3_000)).toString('base64')
    await writeFile(env, model, `notes-${random.int(20)}.txt`, text)
  },
  append: async (env, model, random) => {
    const path = random.pick(
      [...model.files.keys()].filter((name) => name.startsWith('notes')).concat('new.txt'),
    )
    await run(env, `echo appended >> '${path}'`)
    model.files.set(path, `${model.files.get(path) ?? ''}appended\n`)
  },
  rename: async (env, model, random) => {
    const from = [...model.files.keys()].find((name) => name.startsWith('notes'))
    const to = `notes-${20 + random.int(20)}.txt`
    if (from === undefined || from === to) return
    await run(env, `mv '${from}' '${to}'`)
    const text = model.files.get(from) ?? ''
    model.files.delete(from)
    model.files.set(to, text)
  },
  remove: async (env, model) => {
    const path = [...model.files.keys()].find((name) => name.startsWith('notes'))
    if (path === undefined) return
    await run(env, `rm '${path}'`)
    model.files.delete(path)
  },
  build: async (env, model, random) => {
    const value = random.int(1_000_000)
    await writeFile(env, model, 'value.h', `#define VALUE ${value}\n`)
    const made = await run(env, 'make -s && ./program')
    if (made !== String(value)) throw new Error(`the program prints ${made}, not ${value}`)
  },
  request: async (env, model, random) => {
    const times = 1 + random.int(5)
    await run(env, `for i in $(seq ${times}); do ${ask('hit')}; done`)
    model.hits += times
  },
  store: async (env, model, random) => {
    const [key, text] = [random.int(50), `t${random.int(1_000_000)}`]
    await run(env, ask(`put/${key}/${text}`))
    model.rows.set(key, text)
  },
  'store beside the server': async (env, model, random) => {
    const [key, text] = [random.int(50), `c${random.int(1_000_000)}`]
    const sql = `.timeout 20000\ninsert or replace into rows values (${key}, '${text}');`
    await run(env, `printf '%s\\n' "${sql.replace('\n', '" "')}" | sqlite3 ../data.db`)
    model.rows.set(key, text)
  },
}

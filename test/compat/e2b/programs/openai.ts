// The client of @openai/agents-extensions for E2B: a workspace, commands, a terminal, a snapshot, a resume.
import { E2BSandboxClient } from '@openai/agents-extensions/sandbox/e2b'
import { check, equal, type Stop, soon, visit } from '../tour/tour.ts'

const client = new E2BSandboxClient({ timeout: 900, workspacePersistence: 'snapshot' })
const manifest = { root: '/workspace', entries: { 'a.txt': { type: 'file', content: 'made' } } }
const session = await client.create({ manifest } as object)

const stops: readonly Stop<null>[] = [
  {
    method: 'create with a manifest, readFile',
    run: async () => {
      const bytes = await session.readFile({ path: 'a.txt' })
      equal(Buffer.from(bytes).toString(), 'made')
    },
  },
  {
    method: 'execCommand',
    run: async () => {
      const said = await session.execCommand({ cmd: 'pwd; cat a.txt; exit 3' })
      check(/\/workspace/.test(said) && /made/.test(said) && /3/.test(said), said)
    },
  },
  {
    method: 'execCommand on a terminal, writeStdin',
    run: async () => {
      const said = await session.execCommand({
        cmd: 'read x; echo got-$x',
        tty: true,
        yieldTimeMs: 800,
      })
      const [, id = ''] = /session ID:? (\d+)/i.exec(said) ?? []
      check(id !== '', said)
      const sessionId = Number(id)
      let more = await session.writeStdin({ sessionId, chars: 'it\n', yieldTimeMs: 800 })
      await soon('the answer', async () => {
        if (/got-it/.test(more)) return true
        more += await session.writeStdin({ sessionId, chars: '', yieldTimeMs: 800 })
        return false
      })
    },
  },
  {
    method: 'createEditor',
    run: async () => {
      const diff = '-made\n+changed'
      await session.createEditor().updateFile({ type: 'update_file', path: 'a.txt', diff })
      equal(
        Buffer.from(await session.readFile({ path: 'a.txt' }))
          .toString()
          .trim(),
        'changed',
      )
    },
  },
  {
    method: 'persistWorkspace, hydrateWorkspace',
    run: async () => {
      const saved = await session.persistWorkspace()
      await session.execCommand({ cmd: 'echo later > a.txt' })
      await session.hydrateWorkspace(saved)
      equal(
        Buffer.from(await session.readFile({ path: 'a.txt' }))
          .toString()
          .trim(),
        'changed',
      )
    },
  },
  {
    method: 'serializeSessionState, resume',
    run: async () => {
      const state = await client.serializeSessionState(session.state)
      const again = await client.resume(await client.deserializeSessionState(state))
      equal(
        Buffer.from(await again.readFile({ path: 'a.txt' }))
          .toString()
          .trim(),
        'changed',
      )
    },
  },
  { method: 'close', run: () => session.close() },
]

for (const stop of stops) process.stdout.write(`${JSON.stringify(await visit(null, stop))}\n`)
process.exit()

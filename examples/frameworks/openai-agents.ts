// An agent of the OpenAI Agents SDK works in an environment of Forkpoint. Before the risky step its session is
// forked: two agents try one change each, and the better one is kept. The model is scripted, so that this
// needs no network; leave `model` out to use one of OpenAI's.
import { run, setTracingDisabled } from '@openai/agents'
import { Manifest, SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { Forkpoint } from 'forkpoint'
import {
  ForkpointSandboxClient,
  type ForkpointSandboxSession,
} from 'forkpoint/integrations/openai-agents'

setTracingDisabled(true)

/** How long to wait for a command, in milliseconds, before it is left running. */
const patience = 60_000

/** An agent that runs these commands, and then says that it is done. */
async function work(session: ForkpointSandboxSession, task: string, commands: readonly string[]) {
  const model = new ScriptedModel([
    ...commands.map((cmd, index) => [
      functionCall(
        'exec_command',
        { cmd, login: false, yield_time_ms: patience },
        { callId: `call-${index}` },
      ),
    ]),
    [assistantMessage('done')],
  ])
  const agent = new SandboxAgent({ name: 'worker', model })
  const { finalOutput } = await run(agent, task, { sandbox: { session } })
  return finalOutput
}

await using fp = await Forkpoint.open()
const client = new ForkpointSandboxClient(fp)
const manifest = new Manifest({
  entries: { 'numbers.txt': { type: 'file', content: '3\n1\n2\n' } },
})
const session = await client.create({ manifest })
const tries: ForkpointSandboxSession[] = []
try {
  console.log(await work(session, 'count the numbers', ['wc -l < numbers.txt > count.txt']))
  const ready = await session.snapshot({ message: 'counted' })

  tries.push(...(await session.fork(2)))
  const changes = ['sort -o numbers.txt numbers.txt', 'echo 1 2 3 > numbers.txt']
  await Promise.all(tries.map((each, index) => work(each, 'sort them', [changes[index] ?? ''])))
  const check = 'sort -c numbers.txt && test $(wc -l < numbers.txt) = $(cat count.txt)'
  const results = await Promise.all(
    tries.map((each) => each.exec({ cmd: check, yieldTimeMs: patience })),
  )
  console.log(results.map(({ exitCode }) => (exitCode === 0 ? 'right' : 'wrong')).join(', '))
  const best = tries[results.findIndex(({ exitCode }) => exitCode === 0)]
  if (best !== undefined) await session.promote(best)
  console.log(JSON.stringify(await session.readFile({ path: 'numbers.txt' })))

  const editor = session.createEditor()
  await editor.updateFile({
    type: 'update_file',
    path: 'numbers.txt',
    diff: '@@\n 1\n-2\n+two\n 3\n',
  })
  console.log(JSON.stringify(await session.readFile({ path: 'numbers.txt' })))
  const cat = await session.exec({
    cmd: 'read line; echo "got $line"',
    tty: true,
    yieldTimeMs: 100,
  })
  console.log(
    (
      await session.writeStdin({
        sessionId: cat.sessionId ?? 0,
        chars: 'typed\r',
        yieldTimeMs: patience,
      })
    ).includes('got typed'),
  )

  await session.restore(ready)
  const state = await client.deserializeSessionState(
    await client.serializeSessionState(session.state),
  )
  const again = await client.resume(state)
  console.log(JSON.stringify(await again.readFile({ path: 'numbers.txt' })))
} finally {
  for (const each of [...tries, session]) await each.close()
}

// → done
// → right, wrong
// → "1\n2\n3\n"
// → "1\ntwo\n3\n"
// → true
// → "3\n1\n2\n"

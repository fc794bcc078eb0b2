// A model of the AI SDK breaks its project and rewinds by itself. Then two models try one fix each in forks,
// and the better one is kept. The model is scripted, so that this needs no network; put any model of the
// AI SDK in its place.
import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { type Environment, Forkpoint } from 'forkpoint'
import { forkpointSandbox, forkpointTools } from 'forkpoint/integrations/ai'

type Step = { readonly toolName: string; readonly input: object }
type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

const none = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
const usage = { inputTokens: none, outputTokens: { total: 1, text: 1, reasoning: 0 } }

/** A model that takes these steps; each may use what the tools answered so far. */
function scripted(steps: readonly ((seen: string) => Step)[]): MockLanguageModelV4 {
  let next = 0
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<Answer> => {
      const step = steps[next]?.(JSON.stringify(prompt))
      next += 1
      const content: Answer['content'] =
        step === undefined
          ? [{ type: 'text', text: 'done' }]
          : [
              {
                type: 'tool-call',
                toolCallId: `call-${next}`,
                toolName: step.toolName,
                input: JSON.stringify(step.input),
              },
            ]
      const unified = step === undefined ? 'stop' : 'tool-calls'
      return { content, usage, warnings: [], finishReason: { unified, raw: undefined } }
    },
  })
}

async function work(env: Environment, prompt: string, steps: readonly ((seen: string) => Step)[]) {
  return await generateText({
    model: scripted(steps),
    tools: forkpointTools(env),
    experimental_sandbox: forkpointSandbox(env),
    stopWhen: isStepCount(10),
    prompt,
  })
}

const run = (command: string) => () => ({ toolName: 'run', input: { command } })

await using fp = await Forkpoint.open()
const env = await fp.create()
const tries: Environment[] = []
try {
  const { steps } = await work(env, 'clean the project up', [
    () => ({ toolName: 'writeFile', input: { path: '/app/list', content: 'b\na\nb\n' } }),
    () => ({ toolName: 'snapshot', input: { message: 'before cleaning up' } }),
    run('rm -rf /app && ls /app'),
    (seen) => {
      const snapshot = /"snapshot\\?":\s*\\?"(s[a-z0-9]+)/.exec(seen)?.[1] ?? ''
      return { toolName: 'restore', input: { snapshot } }
    },
    run('cat /app/list'),
  ])
  console.log(steps.flatMap((step) => step.toolCalls.map(({ toolName }) => toolName)).join(' '))

  tries.push(...(await env.fork(2)))
  const fixes = ['uniq /app/list > /app/out', 'sort -u /app/list > /app/out']
  await Promise.all(
    tries.map((each, index) => work(each, 'remove duplicates', [run(fixes[index] ?? '')])),
  )
  const lines = await Promise.all(
    tries.map(async (each) =>
      (await forkpointSandbox(each).run({ command: 'wc -l < /app/out' })).stdout.trim(),
    ),
  )
  console.log(lines.join(' and '))
  const best = tries[lines.indexOf('2')]
  if (best !== undefined) await env.promote(best)

  const sandbox = forkpointSandbox(env)
  const text = await sandbox.readTextFile({ path: '/app/out', startLine: 1, endLine: 2 })
  console.log(JSON.stringify(text), await sandbox.readTextFile({ path: '/app/missing' }))
  const cat = await sandbox.spawn({ command: 'cat; exit 3', stdin: true })
  const writer = cat.stdin.getWriter()
  await writer.write(new TextEncoder().encode('typed'))
  await writer.close()
  const echoed = await new Response(cat.stdout).text()
  await cat.stderr.cancel()
  console.log(echoed, (await cat.wait()).exitCode)
} finally {
  for (const each of [...tries, env]) await each.remove()
}

// → writeFile snapshot run restore run
// → 3 and 2
// → "a\nb" null
// → typed 3

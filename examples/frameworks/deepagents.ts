// An agent of deepagents prepares a project. Before the risky step it is forked with everything that it has:
// two agents try one fix each, and the better one is kept. The model is scripted, so that this needs no
// network; put any chat model of LangChain in its place.
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { createDeepAgent } from 'deepagents'
import { Forkpoint } from 'forkpoint'
import { ForkpointSandbox } from 'forkpoint/integrations/deepagents'

type Step = { readonly name: string; readonly args: Record<string, unknown> }

/** An agent that takes these steps, and then says that it is done. */
async function work(backend: ForkpointSandbox, task: string, steps: readonly Step[]) {
  const model = fakeModel()
  for (const step of steps) model.respondWithTools([step])
  model.respond(new AIMessage('done'))
  const agent = createDeepAgent({ model, backend })
  return await agent.invoke({ messages: [{ role: 'user', content: task }] })
}

const slow = 'print(sum(1 for i in range(2, 400) if all(i % j for j in range(2, i))))\n'

await using fp = await Forkpoint.open()
const sandbox = new ForkpointSandbox(await fp.create())
const tries: ForkpointSandbox[] = []
try {
  await work(sandbox, 'write a program that counts primes below 400', [
    { name: 'write_file', args: { file_path: '/app/primes.py', content: slow } },
    { name: 'execute', args: { command: 'python3 /app/primes.py > /app/expected' } },
  ])
  const ready = await sandbox.snapshot({ message: 'works, but slow' })

  tries.push(...(await sandbox.fork(2)))
  const fixes = ['range(2, int(i ** 0.5) + 1)', 'range(2, 4)']
  await Promise.all(
    tries.map((backend, index) =>
      work(backend, 'make it faster', [
        {
          name: 'edit_file',
          args: {
            file_path: '/app/primes.py',
            old_string: 'range(2, i)',
            new_string: fixes[index],
          },
        },
      ]),
    ),
  )
  const check = 'python3 /app/primes.py | diff - /app/expected && echo same'
  const results = await Promise.all(tries.map((each) => each.execute(check)))
  const best = tries[results.findIndex(({ exitCode }) => exitCode === 0)]
  console.log(results.map(({ exitCode }) => (exitCode === 0 ? 'right' : 'wrong')).join(', '))
  if (best !== undefined) await sandbox.promote(best)
  console.log((await sandbox.execute('grep -o "range(2, i[^)]*)" /app/primes.py')).output.trim())

  await sandbox.restore(ready)
  console.log((await sandbox.execute('cat /app/primes.py')).output === slow ? 'rewound' : 'changed')
} finally {
  for (const each of [...tries, sandbox]) await each.environment.remove()
}

// → right, wrong
// → range(2, int(i ** 0.5)
// → rewound

// Several environments at the same time, each with its own files and processes, from the same machine.
import { Forkpoint } from 'forkpoint'

await using fp = await Forkpoint.open()
const labels = { example: 'side-by-side' }
const sorts = ['sorted(n)', 'list(reversed(sorted(n)))', 'sorted(n, key=lambda x: -x)[::-1]']

try {
  const results = await Promise.all(
    sorts.map(async (expression) => {
      const env = await fp.create({ labels })
      await env.files.write('/task/try.py', `n = [3, 1, 2]\nprint(${expression} == [1, 2, 3])\n`, {
        makeParents: true,
      })
      const { stdout } = await env.exec('cd /task && python3 try.py')
      return stdout.trim()
    }),
  )
  console.log(results.join(' ')) // → True False True
} finally {
  for (const env of await fp.list({ labels })) await env.remove()
}

// Prepare once, then try two ways from the same point: data in memory and on disk, an exported
// variable, a function of the shell. Going back costs a fraction of a second, not the preparation.
import { Forkpoint } from 'forkpoint'

await using fp = await Forkpoint.open()
const env = await fp.create()

/** How long the prepared list takes to sort, in comparisons. */
async function score(fix: string): Promise<number> {
  await env.exec(fix)
  const { stdout } = await env.exec('measure')
  return Number(stdout)
}

try {
  await env.exec(
    'mkdir /task && cd /task && seq 1 2000 | sort -R --random-source=/etc/passwd > data',
  )
  await env.exec('export MODE=debug; measure() { python3 sort.py < data; }')
  const ready = await env.snapshot({ message: 'data prepared' })

  const program = (body: string) => `cat > sort.py <<'END'
import sys, functools
count = 0
def less(a, b):
    global count
    count += 1
    return (a > b) - (a < b)
items = [int(line) for line in sys.stdin]
${body}
assert items == sorted(items)
print(count)
END`

  const a = await score(
    program(`for i in range(len(items)):
    j = i
    while j and less(items[j - 1], items[j]) > 0:
        items[j - 1], items[j] = items[j], items[j - 1]
        j -= 1`),
  )
  await env.restore(ready)
  console.log((await env.exec('pwd; echo $MODE; ls')).stdout.trim().replaceAll('\n', ' '))
  const b = await score(program('items.sort(key=functools.cmp_to_key(less))'))
  console.log(a > b ? 'B is better' : 'A is better')

  await env.remove()
  await ready.remove()
} catch (error) {
  await env.remove()
  throw error
}

// → /task debug data
// → B is better

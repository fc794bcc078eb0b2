// The loop of ../try-two-fixes.ts, written for E2B's own client: prepare once, then try two ways from the same
// point. It runs on Forkpoint with three variables: E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY.
import { Sandbox } from 'e2b'

const first = await Sandbox.create({ envs: { MODE: 'debug' } })
const cwd = '/task'

/** How long the prepared list takes to sort, in comparisons. */
async function score(sandbox: Sandbox, fix: string): Promise<number> {
  await sandbox.files.write(`${cwd}/sort.py`, fix)
  const { stdout } = await sandbox.commands.run('python3 sort.py < data', { cwd })
  return Number(stdout)
}

const program = (body: string) => `import sys, functools
count = 0
def less(a, b):
    global count
    count += 1
    return (a > b) - (a < b)
items = [int(line) for line in sys.stdin]
${body}
assert items == sorted(items)
print(count)
`

try {
  await first.commands.run(
    'mkdir /task && cd /task && seq 1 2000 | sort -R --random-source=/etc/passwd > data',
    { cwd: '/' },
  )
  const { snapshotId } = await first.createSnapshot()

  const a = await score(
    first,
    program(`for i in range(len(items)):
    j = i
    while j and less(items[j - 1], items[j]) > 0:
        items[j - 1], items[j] = items[j], items[j - 1]
        j -= 1`),
  )
  const second = await Sandbox.create(snapshotId)
  try {
    const { stdout } = await second.commands.run('pwd; echo $MODE; ls', { cwd })
    console.log(stdout.trim().replaceAll('\n', ' '))
    const b = await score(second, program('items.sort(key=functools.cmp_to_key(less))'))
    console.log(a > b ? 'B is better' : 'A is better')
  } finally {
    await second.kill()
  }
  await Sandbox.deleteSnapshot(snapshotId)
} finally {
  await first.kill()
}

// → /task debug data
// → B is better

// The loop of a coding agent: run a command, look at the result, decide what to do next. State
// stays in the shell between the steps, and a step that hangs or fails costs nothing.
import { Forkpoint } from 'forkpoint'

await using fp = await Forkpoint.open()
const env = await fp.create({ limits: { memoryBytes: 1024 ** 3, pids: 256 } })

/** What a model would say next; here it is a fixed list. */
const steps = [
  'mkdir /task && cd /task && export PYTHONDONTWRITEBYTECODE=1',
  'printf "def add(a, b):\\n    return a - b\\n" > calc.py',
  'python3 -c "from calc import add; assert add(2, 3) == 5" 2>&1 | tail -n 1',
  "sed -i 's/a - b/a + b/' calc.py",
  'python3 -c "from calc import add; assert add(2, 3) == 5" && echo passed',
  'sleep 1000',
]

try {
  for (const step of steps) {
    const { timedOut, exitCode, stdout } = await env.exec(step, { timeoutMs: 5_000 })
    // The model would be given this and asked for the next step.
    console.log(timedOut ? 'timed out' : `exit code ${exitCode}`, stdout.trim())
  }
} finally {
  await env.remove()
}

// → exit code 0
// → exit code 0
// → exit code 0 AssertionError
// → exit code 0
// → exit code 0 passed
// → timed out

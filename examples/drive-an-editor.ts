// A full-screen program, driven as a person would: type, look at the screen, type again.
import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint, type Terminal } from 'forkpoint'

await using fp = await Forkpoint.open()
const env = await fp.create()

try {
  const editor = env.terminal('editor')
  const viewer = await editor.attach({ cols: 72, rows: 12, argv: ['vi', '/tmp/note.txt'] })
  await until(editor, (lines) => lines.some((line) => line.startsWith('~')))
  await viewer.write('ihello from a program\u001b')
  await until(editor, (lines) => lines[0] === 'hello from a program')
  await viewer.write(':wq\r')
  const { exitCode } = await viewer.exit
  console.log(exitCode) // → 0
  console.log((await env.files.read('/tmp/note.txt')).toString().trim()) // → hello from a program
} finally {
  await env.remove()
}

async function until(terminal: Terminal, shows: (lines: readonly string[]) => boolean) {
  while (!shows((await terminal.screen()).lines)) await sleep(50)
}

// The host's side of the fuzzer: node attacked-host.ts SOCKET DIRECTORY, one line of JSON per round.
// It makes every kind of request to an agent, and must neither crash, hang nor grow.
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { attachCommand, forgetCommand, listCommands } from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import {
  configure,
  listShells,
  quiesce,
  readAgentInfo,
  setIdentity,
} from '../../../src/agent/environment.ts'
import { readFile, streamFile, writeFile } from '../../../src/agent/files/file-content.ts'
import { watchFiles } from '../../../src/agent/files/file-watch.ts'
import { listFiles, makeDirectory, removeFile, statFile } from '../../../src/agent/files/files.ts'
import { downloadTree } from '../../../src/agent/files/trees/download.ts'
import { uploadTree } from '../../../src/agent/files/trees/upload.ts'
import { connectPort } from '../../../src/agent/ports.ts'
import { readScreen } from '../../../src/agent/terminals/read-screen.ts'
import { listTerminals, openTerminal } from '../../../src/agent/terminals/terminals.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { ForkpointError } from '../../../src/model/errors.ts'

const [socket = '', directory = ''] = process.argv.slice(2)

type Ask = (connection: AgentConnection, signal: AbortSignal) => Promise<unknown>

async function takeSome(chunks: AsyncIterable<unknown>): Promise<void> {
  let left = 100
  for await (const _ of chunks) if (--left === 0) return
}

const asks: readonly Ask[] = [
  (c, signal) => downloadTree(c, '/tree', `${directory}/tree`, { signal }),
  (c, signal) => downloadTree(c, '/tree', `${directory}/new`, { signal }),
  (c, signal) => uploadTree(c, `${directory}/up`, '/up', { signal }),
  (c, signal) => listFiles(c, '/', { signal }),
  (c, signal) => statFile(c, '/x', { signal }),
  (c, signal) => readFile(c, '/x', { signal, maxBytes: 1_000_000 }),
  (c, signal) => takeSome(streamFile(c, '/x', { signal })),
  (c, signal) => writeFile(c, '/x', Buffer.alloc(600_000), { signal }),
  (c, signal) => makeDirectory(c, '/x', { signal, parents: true }),
  (c, signal) => removeFile(c, '/x', { signal }),
  async (c, signal) => takeSome(await watchFiles(c, '/x', { signal })),
  async (c, signal) => takeSome((await connectPort(c, { port: 1 }, { signal })).output()),
  async (c, signal) => takeSome((await openTerminal(c, 'main', { signal })).data()),
  (c, signal) => readScreen(c, 'main', { signal }),
  (c, signal) => listTerminals(c, { signal }),
  (c, signal) => listCommands(c, { signal }),
  (c, signal) => listShells(c, { signal }),
  (c, signal) => attachCommand(c, 'c-1', { stdout: 0, stderr: 0 }, { signal }),
  (c, signal) => forgetCommand(c, 'c-1', { signal }),
  (c, signal) => readAgentInfo(c, { signal }),
  (c, signal) => setIdentity(c, { hostname: 'h', machineId: 'm' }, { signal }),
  (c, signal) => configure(c, { cwd: '/' }, { signal }),
  (c, signal) => quiesce(c, { signal }),
  (c, signal) => c.ping({ signal, timeoutMs: 50 }),
  (c) => execCommand(c, { mode: 'process', command: 'x', timeoutMs: 1000, graceMs: 20 }),
  (c) => execCommand(c, { mode: 'shell', command: 'x', stdin: 'y', graceMs: 20 }),
]

process.on('unhandledRejection', (error) => {
  throw error
})

/** Errors that a caller may get; anything else is a bug. */
function outcomeOf(error: unknown): string {
  if (error instanceof ForkpointError) return error.code
  if (error instanceof Error && error.name === 'TimeoutError') return 'aborted'
  throw error
}

async function round(number: number): Promise<string> {
  // Longer than any timeout below, in seconds of 2 ms.
  const signal = AbortSignal.timeout(3000)
  try {
    const connection = await openConnection(createConnection(socket), {
      secondMs: 2,
      helloTimeoutMs: 100,
    })
    try {
      const ask = asks[number % asks.length]
      await ask?.(connection, signal)
      return 'done'
    } finally {
      await connection.close()
    }
  } catch (error) {
    return outcomeOf(error)
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await round(Number(line))
  if (Number(line) % 50 === 0) {
    globalThis.gc?.()
    await sleep(1)
  }
  const { rss } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ round: Number(line), outcome, rss })}\n`)
}

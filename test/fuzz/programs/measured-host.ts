// node measured-host.ts SOCKET ASK: one question to an agent, and how much memory that took.
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { openContent, readFile } from '../../../src/agent/files/file-content.ts'
import { listFiles } from '../../../src/agent/files/files.ts'
import { readScreen } from '../../../src/agent/terminals/read-screen.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { ForkpointError } from '../../../src/model/errors.ts'

const [socket = '', question = ''] = process.argv.slice(2)

const questions: Record<string, (connection: AgentConnection) => Promise<unknown>> = {
  list: (c) => listFiles(c, '/'),
  exec: (c) => execCommand(c, { mode: 'process', command: 'x' }),
  read: (c) => readFile(c, '/x'),
  screen: (c) => readScreen(c, 'main'),
  /** A reader that takes nothing while content arrives. */
  content: async (c) => {
    const { runs } = openContent(c, '/x')
    await runs.next()
    await sleep(3000)
  },
}

async function ask(): Promise<string> {
  await using connection = await openConnection(createConnection(socket))
  try {
    await questions[question]?.(connection)
    return 'done'
  } catch (error) {
    if (error instanceof ForkpointError) return error.code
    throw error
  }
}

const outcome = await ask()
process.stdout.write(JSON.stringify({ outcome, mib: process.resourceUsage().maxRSS / 1024 }))
process.exit()

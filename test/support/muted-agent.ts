import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../src/index.ts'
import { agentPid } from './cell-processes.ts'
import type { TestHome } from './test-home.ts'

const program = join(import.meta.dirname, '../../native/build/agent')
/** The instruction that returns from a function. */
const returns: Partial<Record<NodeJS.Architecture, Buffer>> = {
  x64: Buffer.from([0xc3]),
  arm64: Buffer.from([0xc0, 0x03, 0x5f, 0xd6]),
}

/**
 * Does what root inside can do with a debugger: from now on the agent says hello and answers pings,
 * and never does what it is asked to do.
 */
export function muteAgent(home: TestHome, env: Environment): void {
  const symbols = execFileSync('nm', [program], { encoding: 'utf8' })
  const address = /^([0-9a-f]+) T dispatch$/m.exec(symbols)?.[1]
  const code = returns[process.arch]
  if (address === undefined || code === undefined) throw new Error('cannot change the agent here')
  const memory = openSync(`/proc/${agentPid(home, env)}/mem`, 'r+')
  try {
    writeSync(memory, code, 0, code.length, Number.parseInt(address, 16))
  } finally {
    closeSync(memory)
  }
}

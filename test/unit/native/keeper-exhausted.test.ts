// A keeper that runs out of descriptors: the request that needs one fails, and no other.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { nativeProgram } from '../../../src/linux/native-program.ts'

const run = 0
const cannotRun = 127

interface Answer {
  readonly id: number
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

function request(id: number, words: readonly string[]): Buffer {
  const args = Buffer.from(words.map((word) => `${word}\0`).join(''))
  const head = Buffer.alloc(16)
  for (const [at, number] of [id, run, args.length, 0].entries()) head.writeUInt32LE(number, 4 * at)
  return Buffer.concat([head, args])
}

async function* answers({ stdout }: ChildProcessWithoutNullStreams): AsyncGenerator<Answer> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of stdout) {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= 16) {
      const outEnd = 16 + bytes.readUInt32LE(8)
      const end = outEnd + bytes.readUInt32LE(12)
      if (bytes.length < end) break
      yield {
        id: bytes.readUInt32LE(0),
        status: bytes.readInt32LE(4),
        stdout: bytes.toString('utf8', 16, outEnd),
        stderr: bytes.toString('utf8', outEnd, end),
      }
      bytes = bytes.subarray(end)
    }
  }
}

test('a program that cannot be started fails alone, with the call that failed', async () => {
  const keeper = spawn('prlimit', ['--nofile=16', nativeProgram('cell'), 'keeper'])
  const ids = Array.from({ length: 8 }, (_, at) => at + 1)
  for (const id of ids) keeper.stdin.write(request(id, ['sh', '-c', 'sleep 0.5; echo done']))
  const all: Answer[] = []
  for await (const answer of answers(keeper)) {
    all.push(answer)
    if (all.length === ids.length) keeper.stdin.end()
  }
  const failed = all.filter(({ status }) => status !== 0)
  expect(all.map(({ id }) => id).sort()).toEqual(ids)
  expect(failed.length).toBeGreaterThan(0)
  expect(failed.length).toBeLessThan(ids.length)
  for (const { status, stderr } of failed) {
    expect(status).toBe(cannotRun)
    expect(stderr).toMatch(/^(pipe2|open|pidfd_open).*: Too many open files \(errno 24\)\n$/)
  }
  for (const { status, stdout } of all) if (status === 0) expect(stdout).toBe('done\n')
})

import { describe, expect, test } from 'vitest'
import { runSession } from '../../../src/cli/shell/session.ts'

type Inside = Parameters<typeof runSession>[0]
type Viewer = Awaited<ReturnType<Inside['attach']>>

/** A viewer that shows some text and then ends, fails, or continues forever. */
function viewer(text: string, end: Error | number | 'open', replayBytes = 0): Viewer {
  const exit =
    end === 'open'
      ? Promise.withResolvers<never>().promise
      : typeof end === 'number'
        ? Promise.resolve({ exitCode: end, signal: null })
        : Promise.reject(end)
  exit.catch(() => {})
  return {
    exit,
    opened: async () => ({ cols: 80, rows: 24, pid: 2, replayBytes }),
    write: async () => {},
    resize: async () => {},
    detach: () => {},
    async *data() {
      yield Buffer.from(text)
      await exit
    },
  }
}

function terminal() {
  const log: string[] = []
  let type: (data: Buffer) => Promise<void> = async () => {}
  return {
    log,
    type: (text: string) => type(Buffer.from(text, 'latin1')),
    size: { cols: 80, rows: 24 },
    show: async (chunk: Buffer) => void log.push(chunk.toString()),
    clear: async () => void log.push('<clear>'),
    onTyped: (listener: (data: Buffer) => Promise<void>) => {
      type = listener
      return { [Symbol.dispose]: () => {} }
    },
    onResize: () => ({ [Symbol.dispose]: () => {} }),
  }
}

function inside(...attempts: (Viewer | Error)[]): Inside {
  return {
    attach: async () => {
      const next = attempts.shift()
      if (next === undefined) throw new Error('attached too many times')
      if (next instanceof Error) throw next
      return next
    },
  }
}

const never = new AbortController().signal

describe('a shell session', () => {
  test('ends with the exit code of its program', async () => {
    const own = terminal()
    const end = await runSession(inside(viewer('bye', 9)), own, never)
    expect(end).toMatchObject({ kind: 'exited', exitCode: 9 })
    expect(own.log).toEqual(['bye'])
  })

  test('can be left with Ctrl-] d', async () => {
    const own = terminal()
    const session = runSession(inside(viewer('x', 'open')), own, never)
    while (own.log.length === 0) await new Promise(setImmediate)
    await own.type('ls\u001dd')
    expect(await session).toEqual({ kind: 'detached' })
  })

  test('ends when it is interrupted', async () => {
    const controller = new AbortController()
    const session = runSession(inside(viewer('x', 'open')), terminal(), controller.signal)
    controller.abort(new Error('SIGTERM'))
    await expect(session).rejects.toThrow('SIGTERM')
  })
})

import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { inWords } from '../../../src/log/destination.ts'
import { openLog } from '../../../src/log/open-log.ts'
import { silentLog } from '../../../src/model/log.ts'

/** What a process logs at `level`, as a program reads it. */
function logged(level: string, statement: string): Record<string, unknown>[] {
  const program = `
    import { openLog } from '${new URL('../../../src/log/open-log.ts', import.meta.url)}'
    import { BackendError } from '${new URL('../../../src/model/errors.ts', import.meta.url)}'
    const log = await openLog('${level}')
    ${statement}`
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program]
  // On stderr: stdout belongs to the command.
  const text = execFileSync('sh', ['-c', '"$0" "$@" 2>&1 >/dev/null', process.execPath, ...args])
  return text
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

describe('the log', () => {
  test('is silent by default', async () => {
    expect(await openLog('silent')).toBe(silentLog)
  })

  test('has the lines of its level and above', () => {
    const lines = logged(
      'warn',
      `log.info({}, 'no'); log.warn({ a: 1 }, 'yes'); log.error({}, 'and this')`,
    )
    expect(lines).toMatchObject([{ msg: 'yes', a: 1 }, { msg: 'and this' }])
  })

  test('contains no secrets: no variables, no arguments, no output of programs inside', () => {
    const [line] = logged(
      'debug',
      `const err = new BackendError('it failed', { lastWords: 'hunter2', remedy: 'try again' })
       log.warn({ err, env: { KEY: 'hunter2' }, spec: { token: 'hunter2', argv: ['hunter2'] } }, 'oh')`,
    )
    expect(JSON.stringify(line)).not.toContain('hunter2')
    expect(line).toMatchObject({
      err: { message: 'it failed', remedy: 'try again', code: 'backend_failed' },
    })
  })

  test('is readable for people, with nothing that would control a terminal', () => {
    const line = JSON.stringify({
      level: 40,
      msg: 'oh\u001b[2J',
      err: { message: 'no space' },
      n: 2,
    })
    expect(inWords(line)).toBe('forkpoint: warning: oh�[2J (err=no space, n=2)\n')
  })
})

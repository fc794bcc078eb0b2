import { describe, expect, test } from 'vitest'
import { configSchema, factsOf } from '../../../../src/images/facts.ts'

const id = `sha256:${'0'.repeat(64)}`
const facts = (config: unknown) => factsOf(id, configSchema.parse(config))

describe('what an image says', () => {
  test('is nothing, for an image that says nothing', () => {
    expect(facts({ Env: null, Cmd: null, Labels: null })).toEqual({
      id,
      env: {},
      labels: {},
      workdir: '/',
      user: null,
      entrypoint: [],
      command: [],
      ports: [],
      volumes: [],
      healthcheck: null,
    })
  })

  test('is without variables and labels that an environment cannot have', () => {
    const Env = [
      'A=1',
      'B=',
      'C',
      'd.e=1',
      '=1',
      '1X=1',
      'F=a=b\nc',
      'G=\0',
      `H=${'x'.repeat(2e5)}`,
    ]
    const Labels = { good: 'yes', '': 'no', long: 'x'.repeat(5000), nul: '\0' }
    expect(facts({ Env, Labels })).toMatchObject({
      env: { A: '1', B: '', F: 'a=b\nc' },
      labels: { good: 'yes' },
    })
  })

  test('is without paths and names that break terminals', () => {
    const given = { WorkingDir: 'relative', User: 'a\u001b[2J', Volumes: { '/ok': {}, 'no\n': {} } }
    expect(facts(given)).toMatchObject({ workdir: '/', user: null, volumes: ['/ok'] })
  })

  test.each([
    [{ Test: ['NONE'] }, null],
    [{ Test: [] }, null],
    [{ Test: ['CMD', 'a', 'b'] }, ['a', 'b']],
    [{ Test: ['CMD-SHELL', 'a b'] }, ['/bin/sh', '-c', 'a b']],
  ])('a health check %j runs %j', (Healthcheck, command) => {
    expect(facts({ Healthcheck }).healthcheck?.command ?? null).toEqual(command)
  })

  test('of another shape is refused', () => {
    expect(configSchema.safeParse({ Env: 'A=1' }).success).toBe(false)
    expect(configSchema.safeParse({ Cmd: [1] }).success).toBe(false)
  })
})

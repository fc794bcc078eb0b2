import { describe, expect, test } from 'vitest'
import { expiresAt, idleDue, nextDue } from '../../../src/engine/policies/due.ts'
import { formatIdle, parseIdle, parseTtl } from '../../../src/model/policy.ts'

const hour = 3_600_000
const running = { status: 'running', createdAt: 0 } as const
const idle = { afterMs: 600_000, action: 'pause' } as const

describe('what falls due', () => {
  test('is nothing without a policy', () => {
    expect(nextDue(running, null)).toBeNull()
    expect(nextDue({ ...running, policy: { wake: 'idle' } }, 5)).toBeNull()
  })

  test('is the end of its time to live, announced a while before', () => {
    const subject = { ...running, policy: { wake: 'idle', ttlMs: hour } } as const
    expect(nextDue(subject, hour - 1)).toEqual({
      cause: 'ttl',
      action: 'remove',
      at: hour,
      announceAt: hour - 60_000,
    })
    expect(expiresAt({ ...subject, policy: { ...subject.policy, since: 7 } })).toBe(hour + 7)
  })

  test('is counted from when it was last used, and announced in the last tenth', () => {
    const subject = {
      ...running,
      policy: { wake: 'idle', idle: { ...idle, afterMs: 1000 } },
    } as const
    expect(nextDue(subject, null)).toMatchObject({ cause: 'idle', at: 1000, announceAt: 900 })
    expect(nextDue(subject, 500)).toMatchObject({ at: 1500 })
    const later = { ...subject, policy: { ...subject.policy, since: 800 } }
    expect(nextDue(later, 500)?.at).toBe(1800)
    expect(idleDue(later, 500)?.at).toBe(1800)
  })

  test('is whatever comes first', () => {
    const subject = { ...running, policy: { wake: 'idle', ttlMs: hour, idle } } as const
    expect(nextDue(subject, 0)?.cause).toBe('idle')
    expect(nextDue(subject, hour)?.cause).toBe('ttl')
  })

  test('is no pause of what sleeps already, but still its end', () => {
    const subject = { ...running, policy: { wake: 'idle', ttlMs: hour, idle } } as const
    for (const status of ['paused', 'released', 'dead'] as const) {
      expect(nextDue({ ...subject, status }, 0)).toMatchObject({ cause: 'ttl', action: 'remove' })
    }
    for (const status of ['creating', 'removing'] as const) {
      expect(nextDue({ ...subject, status }, 0)).toBeNull()
    }
    const removing = { wake: 'idle', idle: { ...idle, action: 'remove' } } as const
    expect(nextDue({ ...running, status: 'paused', policy: removing }, 0)?.action).toBe('remove')
  })
})

describe('a policy on the command line', () => {
  test.each([
    ['10m=pause', { afterMs: 600_000, action: 'pause' }, 'pause after 10 min'],
    ['2h=release', { afterMs: 2 * hour, action: 'release' }, 'release after 2 h'],
    ['90=remove', { afterMs: 90_000, action: 'remove' }, 'remove after 1 min 30 s'],
  ] as const)('reads %s', (text, policy, shown) => {
    expect(parseIdle(text)).toEqual(policy)
    expect(formatIdle(policy)).toBe(shown)
  })

  test.each([
    '',
    '10m',
    'pause',
    '10m=stop',
    '10m=pause=remove',
    'x=pause',
    '0=pause',
    '10ms=pause',
  ])('refuses %s', (text) => expect(() => parseIdle(text)).toThrow())

  test('a time to live may be years, but not nothing', () => {
    expect(parseTtl('400d')).toBe(400 * 24 * hour)
    expect(() => parseTtl('0')).toThrow('too short')
  })
})

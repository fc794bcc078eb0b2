import { describe, expect, test } from 'vitest'
import { withoutLoopback } from '../../../src/backends/native/overlay/resolver.ts'

describe('the resolver of an environment with a network', () => {
  test('does not ask a server on loopback, where none listens inside', () => {
    const host = [
      '# made by systemd-resolved',
      'nameserver 127.0.0.53',
      'nameserver ::1',
      'nameserver 192.0.2.53',
      'options edns0 trust-ad',
      'search example.org',
      '',
    ]
    expect(withoutLoopback(host.join('\n'))).toBe(
      'nameserver 192.0.2.53\noptions edns0 trust-ad\nsearch example.org\n',
    )
  })

  test('asks the servers of the host, in their order', () => {
    const host = 'nameserver 192.0.2.1\nnameserver 2001:db8::1\n'
    expect(withoutLoopback(host)).toBe(host)
  })
})

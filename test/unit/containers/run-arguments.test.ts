import { describe, expect, test } from 'vitest'
import {
  knownFlags,
  parseRunArguments,
} from '../../../src/backends/containers/run-arguments/parse.ts'
import {
  runBody,
  withFreePorts,
} from '../../../src/backends/containers/run-arguments/run-options.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'

const ports: readonly [given: string, inside: string, hostIp: string, hostPort: string][] = [
  ['80', '80/tcp', '', ''],
  ['8080:80', '80/tcp', '0.0.0.0', '8080'],
  ['127.0.0.1:8080:80/udp', '80/udp', '127.0.0.1', '8080'],
  ['127.0.0.1::80', '80/tcp', '127.0.0.1', ''],
  ['[::1]:1:2', '2/tcp', '::1', '1'],
]

const refused: readonly string[][] = [
  ['--gpus', 'all'],
  ['--rm'],
  ['image'],
  ['-e'],
  ['-e', 'NAME'],
  ['-p', '0'],
  ['-p', '70000:1'],
  ['-p', 'host:1:2'],
  ['-v', 'relative/path:/x'],
  ['-v', '/a:relative'],
  ['-v', '/a:/'],
  ['-v', '/a:/run/forkpoint/agent'],
  ['-v', '/a:/x/../run/forkpoint'],
  ['-v', '/a:/b:rshared'],
  ['--mount', 'type=bind,source=a,target=/b'],
  ['--mount', 'type=bind,source=/a,target=/b,propagation=shared'],
  ['--tmpfs', '/run/forkpoint'],
  ['--hostname', 'a b'],
  ['--dns', 'name'],
  ['--privileged=no'],
  ['--user', '--privileged'],
]

describe('arguments of `docker run`', () => {
  test('are sorted by who needs them', () => {
    const parsed = parseRunArguments([
      ...['-e', 'A=1=2', '--env=B=', '-w/work', '--hostname', 'web', '-m', '1g', '--cpus=0.5'],
      ...['-v', '/data:/data:ro', '-v', '/kept', '--mount', 'type=tmpfs,dst=/t,readonly'],
      ...['--tmpfs', '/s:size=1m', '--cap-add', 'NET_ADMIN', '--cap-drop=ALL', '--shm-size', '64m'],
      ...['-u', '1000:1000', '--network=none', '--add-host', 'db:10.0.0.2', '--privileged'],
    ])
    expect(parsed).toEqual({
      env: { A: '1=2', B: '' },
      labels: {},
      workdir: '/work',
      hostname: 'web',
      limits: { memoryBytes: 2 ** 30, cpus: 0.5 },
      net: 'none',
      run: {
        user: '1000:1000',
        network: 'none',
        ports: [],
        binds: ['/data:/data:ro'],
        mounts: [
          { Type: 'volume', Target: '/kept' },
          { Type: 'tmpfs', Target: '/t', ReadOnly: true },
        ],
        tmpfs: { '/s': 'size=1m' },
        capAdd: ['NET_ADMIN'],
        capDrop: ['ALL'],
        extraHosts: ['db:10.0.0.2'],
        dns: [],
        shmBytes: 64 * 2 ** 20,
        privileged: true,
      },
    })
  })

  test.each(ports)('--publish %s', (given, inside, hostIp, hostPort) => {
    const { run, net } = parseRunArguments(['-p', given])
    expect(run.ports).toEqual([{ inside, hostIp, hostPort }])
    expect(net).toBe('nat')
    expect(withFreePorts(run).ports).toEqual([{ inside, hostIp, hostPort: '' }])
    expect(runBody(run).host).toMatchObject({
      PortBindings: { [inside]: [{ HostIp: hostIp, HostPort: hostPort }] },
    })
  })

  test.each(refused.map((words) => [words.join(' '), words] as const))(
    '%s is refused',
    (_, words) => {
      expect(() => parseRunArguments(words)).toThrow(InvalidInputError)
    },
  )

  test('a refusal of an unknown one lists those that are known', () => {
    expect(() => parseRunArguments(['--gpus=all'])).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining(knownFlags.join(', ')) }),
    )
  })
})

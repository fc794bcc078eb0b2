import { describe, expect, test } from 'vitest'
import { findEngine } from '../../../src/backends/containers/engine/address.ts'
import { docker, podman } from '../../../src/backends/containers/engine/engine-kind.ts'
import { InvalidInputError, PrerequisiteError } from '../../../src/model/errors.ts'

const noSockets = { ...docker, sockets: () => ['/nonexistent/docker.sock'] }

describe('where an engine is', () => {
  test('the setting comes before the variable, and the variable before the usual sockets', () => {
    const env = { DOCKER_HOST: 'unix:///run/user/1/docker.sock' }
    expect(findEngine(docker, '/a/socket', env)).toEqual({ socketPath: '/a/socket' })
    expect(findEngine(docker, null, env)).toEqual({ socketPath: '/run/user/1/docker.sock' })
    const usual = { ...podman, sockets: () => ['/nonexistent', '/'] }
    expect(findEngine(usual, null, {})).toEqual({ socketPath: '/' })
  })

  test('an engine may be on another machine', () => {
    const at = (DOCKER_HOST: string) => findEngine(docker, null, { DOCKER_HOST })
    expect(at('tcp://engine:2375')).toEqual({ host: 'engine', port: 2375 })
    expect(at('tcp://[::1]:2375')).toEqual({ host: '::1', port: 2375 })
  })

  test.each(['ssh://host', 'tcp://host', 'nonsense', 'unix://'])('%s is refused', (DOCKER_HOST) => {
    expect(() => findEngine(docker, null, { DOCKER_HOST })).toThrow(InvalidInputError)
  })

  test('without any, it says where it looked and what to do', () => {
    expect(() => findEngine(noSockets, null, {})).toThrow(PrerequisiteError)
    expect(() => findEngine(noSockets, null, {})).toThrow('/nonexistent/docker.sock')
  })
})

import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/index.ts'
import { camelCase, envMethods, targetOf } from '../../../src/manager/methods.ts'

const created = (backend: string, from: string, more = {}) => ({
  kind: 'create',
  options: { backend, from, ...more },
})

const attached = (backend: string, target: string | number, more = {}) => ({
  kind: 'attach',
  options: { backend, target, ...more },
})

describe('a method of StateFork', () => {
  test.each([
    ['docker_build', { dockerfile_dir: './task' }, created('docker', 'dockerfile:./task')],
    ['docker_build', { base_image: 'debian:12' }, created('docker', 'image:debian:12')],
    ['docker_attach', { container_name: 'web' }, attached('docker', 'web')],
    ['podman_build', { dockerfileDir: 'x' }, created('podman', 'dockerfile:x')],
    [
      'podman_build',
      { base_image: 'a', extra_args: ['--memory=1g'] },
      created('podman', 'image:a', { extraArgs: ['--memory=1g'] }),
    ],
    ['podman_attach', { container_name: 'web', base_image: 'a' }, attached('podman', 'web')],
    ['criu_attach', { target_pid: 12345 }, attached('criu', 12345)],
    ['criu_attach', { target_pid: 5, work_dir: '/srv' }, attached('criu', 5, { workdir: '/srv' })],
    [
      'hybrid_build',
      { dockerfile_dir: 'x', container_name: 'web', export_dir: '/e' },
      created('podman-criu', 'dockerfile:x', { name: 'web', exportDir: '/e' }),
    ],
    ['hybrid_attach', { container_name: 'web' }, attached('podman-criu', 'web')],
    ['gvisor_build', { base_image: 'a' }, created('gvisor', 'image:a')],
    ['gvisor_attach', { container_name: 'web' }, attached('gvisor', 'web')],
    ['firecracker_build', { fire_parent_dir: '/vm' }, created('microvm', 'rootfs:/vm')],
    ['firecracker_attach', { target_pid: 7 }, attached('microvm', 7)],
    ['waypoint_build', { dockerfile_dir: './task' }, created('native', 'dockerfile:./task')],
    ['ckpt_build', { dockerfile_dir: './task', build: false }, created('native', 'dir:./task')],
    ['ckpt_build', {}, created('native', 'host')],
    ['waypoint_attach', { session_id: 'web', target_pid: 3 }, { kind: 'find', reference: 'web' }],
    ['ckpt_attach', { target_pid: 3 }, attached('native', 3)],
  ])('%s with %j has its backend, and its source or target', (method, args, target) => {
    expect(targetOf(method, args)).toEqual(target)
  })

  test('that starts a command keeps its words', () => {
    const args = { work_dir: '/srv', command: ['python3', 'app.py'] }
    expect(targetOf('criu_build', args)).toEqual(
      created('criu', 'dir:/srv', { command: ['python3', 'app.py'] }),
    )
  })

  test.each([
    ['docker_biuld', {}, 'there is no method "docker_biuld"', 'did you mean docker_build?'],
    [
      'docker_build',
      {},
      'docker_build: neither a Dockerfile nor an image is named',
      /dockerfileDir/,
    ],
    ['docker_attach', {}, /docker_attach.containerName/, /word/],
    ['waypoint_attach', {}, /neither a session nor a process/, /sessionId/],
    ['ckpt_build', { dockerfil_dir: 'x' }, /unknown option "dockerfilDir"/, /dockerfileDir/],
  ])('%s with %j is refused with a remedy', (method, args, message, remedy) => {
    const refusal = failureOf(() => targetOf(method, args))
    expect(refusal).toBeInstanceOf(InvalidInputError)
    expect(refusal.message).toMatch(message)
    expect(refusal.remedy).toMatch(remedy)
  })

  test('is one of the sixteen that StateFork has, or has had', () => {
    expect(envMethods.length).toBe(16)
  })
})

test('arguments in snake case are those in camel case', () => {
  expect(camelCase({ dockerfile_dir: 1, base_image: 2, build: 3, targetPid: 4 })).toEqual({
    dockerfileDir: 1,
    baseImage: 2,
    build: 3,
    targetPid: 4,
  })
})

function failureOf(work: () => unknown): InvalidInputError {
  try {
    work()
  } catch (error) {
    return error as InvalidInputError
  }
  throw new Error('nothing was refused')
}

import type { Base } from './instance.ts'
import type { LifePlaces } from './places.ts'

export const agentInside = '/.forkpoint/agent'
export const socketInside = '/run/forkpoint/agent.sock'

/** What root may do inside, as in other containers. All of it ends at the sandbox. */
export const capabilities = [
  'CAP_AUDIT_WRITE',
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_MKNOD',
  'CAP_NET_BIND_SERVICE',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
  'CAP_SYS_PTRACE',
] as const

function tmpfs(destination: string, mode: string): object {
  return { destination, type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', mode] }
}

/** The OCI description of a sandbox. One that is restored must have the same mounts as the one that was captured. */
export function bundleConfig(
  { agent, adopted }: Pick<Base, 'agent' | 'adopted'>,
  life: LifePlaces,
  hostname: string,
): object {
  if (adopted !== undefined) {
    const spec: object = JSON.parse(adopted.spec)
    return { ...spec, hostname, root: { path: life.root, readonly: isReadOnly(spec) } }
  }
  return {
    ociVersion: '1.0.2',
    hostname,
    root: { path: life.root, readonly: false },
    process: {
      user: { uid: 0, gid: 0 },
      args: [agentInside, '--relayed'],
      // The agent gives every command its own.
      env: [],
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      // The default is 1024, which is less than a shell of the host has.
      rlimits: [{ type: 'RLIMIT_NOFILE', soft: 1024, hard: 1048576 }],
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      tmpfs('/run', 'mode=755'),
      tmpfs('/run/forkpoint', 'mode=755'),
      tmpfs('/run/lock', 'mode=1777'),
      {
        destination: agentInside,
        type: 'bind',
        source: agent,
        options: ['bind', 'ro'],
      },
    ],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })) },
  }
}

function isReadOnly(spec: object): boolean {
  const root: unknown = 'root' in spec ? spec.root : null
  return typeof root === 'object' && root !== null && 'readonly' in root && root.readonly === true
}

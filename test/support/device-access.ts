import { spawnSync } from 'node:child_process'

const opening = `
import errno, os, sys
cgroup, *devices = sys.argv[1:]
open(cgroup + '/cgroup.procs', 'w').write(str(os.getpid()))
for device in devices:
    try:
        os.close(os.open(device, os.O_RDWR | os.O_NOCTTY))
        print('open', device)
    except OSError as error:
        print(errno.errorcode[error.errno], device)
`

/** What the kernel answers in this cgroup to the host's root, whom nothing else restricts. */
export function openInCgroup(cgroup: string, devices: readonly string[]): string[] {
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', opening, cgroup, ...devices], {
    encoding: 'utf8',
  })
  return stderr ? [stderr] : stdout.trim().split('\n')
}

const detaching = `
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def bpf(command, attr):
    buffer = ctypes.create_string_buffer(attr, 128)
    answer = libc.syscall(321, command, buffer, 128)
    if answer < 0: raise OSError(ctypes.get_errno(), command)
    return answer, buffer.raw
GET_FD_BY_ID, QUERY, DETACH, DEVICE = 13, 16, 9, 6
group = os.open(sys.argv[1], os.O_RDONLY)
ids = (ctypes.c_uint32 * 16)()
_, answer = bpf(QUERY, struct.pack('IIIIQI', group, DEVICE, 0, 0, ctypes.addressof(ids), 16))
for id in ids[:struct.unpack_from('I', answer, 24)[0]]:
    program, _ = bpf(GET_FD_BY_ID, struct.pack('I', id))
    bpf(DETACH, struct.pack('III', group, program, DEVICE))
    print('detached')
`

/** Removes the programs that say which devices may be used in a v2 cgroup; returns how many. */
export function detachDevicePolicy(cgroup: string): number {
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', detaching, cgroup], {
    encoding: 'utf8',
  })
  if (stderr) throw new Error(stderr)
  return stdout.split('\n').filter(Boolean).length
}

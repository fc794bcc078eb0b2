import type { Environment } from '../../src/index.ts'

const numbers = {
  ptrace: 101,
  reboot: 169,
  init_module: 175,
  unshare: 272,
  open_by_handle_at: 304,
  bpf: 321,
  io_uring_setup: 425,
  clone3: 435,
} as const

const program = `
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
args = [ctypes.c_long(int(a)) for a in sys.argv[1:]]
result = libc.syscall(*args)
print('done' if result >= 0 else errno.errorcode[ctypes.get_errno()])
`

/** What the kernel answers to a system call (x86-64) of root inside: an errno's name, or `done`. */
export async function systemCall(
  env: Environment,
  call: keyof typeof numbers | number,
  ...args: readonly number[]
): Promise<string> {
  const number = typeof call === 'number' ? call : numbers[call]
  const words = ['/usr/bin/python3', '-c', program, ...[number, ...args, 0, 0, 0, 0].map(String)]
  const { stdout, stderr } = await env.exec(words.slice(0, 10), { mode: 'process' })
  return stdout.trim() || stderr
}

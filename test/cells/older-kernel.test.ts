// Kernels before 6.7 only take the layers of a cell as one string of options. Here a filter of system
// calls makes the kernel answer as before 6.5: configuring an overlay fails at its last step.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { compileC } from '../support/real-programs.ts'
import { ended } from '../support/run-program.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('older-kernel')
afterAll(() => home[Symbol.asyncDispose]())

const withoutCreate = `
#include <errno.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
int main(int argc, char **argv) {
  struct sock_filter filter[] = {
      LOAD(nr),      BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_fsconfig, 0, 3),
      LOAD(args[1]), BPF_JUMP(BPF_JMP | BPF_JEQ, FSCONFIG_CMD_CREATE, 0, 1),
      BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | EINVAL), BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 126;
  execv(argv[1], argv + 1);
}`
const lifecycle = fileURLToPath(new URL('../faults/programs/lifecycle.ts', import.meta.url))

/** Another process with this filter; CRIU itself does not work with one. */
async function createFiltered(name: string): Promise<void> {
  using files = new TemporaryDirectory()
  compileC(withoutCreate, files.file('filter'))
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', lifecycle]
  const child = spawn(files.file('filter'), [...node, 'create', name], {
    env: { ...process.env, FORKPOINT_HOME: home.path },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect(await ended(child)).toMatchObject({ exitCode: 0, stderr: '' })
}

test('an environment works and branches on a kernel that takes layers as one string', async () => {
  await createFiltered('older')
  const fp = await home.open()
  const env = await fp.get('older')
  await env.exec('mv /etc/skel /etc/moved; X=kept; echo kept > /root/file')
  const [fork] = await env.fork(1)
  const result = await fork?.exec('echo $X; cat /root/file; ls -d /etc/moved')
  expect(result?.stdout).toBe('kept\nkept\n/etc/moved\n')
})

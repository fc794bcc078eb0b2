import { outside, type Program, script } from './program.ts'

const here = (name: string, watches: string, command: string): Program => ({
  name,
  watches,
  command: `exec ${command}`,
})

/** Programs that people run, in the middle of their work. */
export const toolPrograms: readonly Program[] = [
  script('find', 'sh', 'find, over new and lower files'),
  script('du', 'sh', 'du'),
  script('tar-create', 'sh', 'tar c: 599 of 600 hard links are links in the archive'),
  script('tar-extract', 'sh', 'tar x: files, links, times of directories'),
  script('cp', 'sh', 'cp -a: hard links stay links'),
  script('rm', 'sh', 'rm -r'),
  script('git-index', 'sh', 'git need not read unchanged files again'),
  script('git-work', 'sh', 'git commit, checkout, repack; git fsck in the end'),
  script('tail', 'sh', 'tail -F prints every line once'),
  script('pipeline', 'sh', 'a pipeline of compressors'),
  script('build', 'sh', 'make and a compiler'),
  script('shell-waits', 'sh', 'sleep, read -t, timeout and wait of bash'),
  script('script', 'sh', 'script(1)'),
  script('jobs', 'sh', 'job control of bash: jobs and traps'),
  script('tmux', 'sh', 'a tmux server and its session'),
  script('sleep', 'pl', "perl's sleep and select"),
  script('sqlite-connections', 'py', 'SQLite, two connections in one process, with a log', 'wal'),
  script('sqlite-connections', 'py', 'the same with a journal', 'delete'),
  script('sqlite-processes', 'py', 'SQLite, three processes, with a log', 'wal'),
  script('sqlite-processes', 'py', 'the same with a journal', 'delete'),
  script('python-waits', 'py', 'waits of Python, in threads, and its event loop'),
  script('python-child', 'py', 'a child, known as psutil knows it'),
  script('download', 'py', 'a download over loopback, on a connection that is kept alive'),
  here(
    'node',
    'Node: timers, a watched file, a child, a server',
    '/usr/bin/node ../programs/node.cjs',
  ),
  here(
    'java',
    'ProcessHandle, a timed wait, a scheduled task',
    'java -Xmx48m -XX:+UseSerialGC ../programs/Handles.java',
  ),
  outside(script('outside', 'py', 'a connection to the outside that talks all the time', 'talk')),
  outside(script('outside', 'py', 'one that is silent until the end', 'silent')),
  outside(script('outside', 'py', 'a download from outside', 'download')),
  outside(script('outside', 'py', 'an upload to the outside', 'upload')),
  outside(script('outside', 'py', 'datagrams to the outside and back', 'datagrams')),
]

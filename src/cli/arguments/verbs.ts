import type { MakeCommand } from '../make-command.ts'

interface Verb {
  readonly summary: string
  /** Each verb has its own file, loaded only when it is used: starting up must stay fast. */
  readonly load: () => Promise<{ readonly make: MakeCommand }>
  readonly hidden?: true
  /** it describes the whole command line, so all other verbs are loaded with it */
  readonly describesAll?: true
}

/** Every verb, in the order of the help. */
export const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  [
    'quickstart',
    {
      summary: 'see a live demo on this machine',
      load: () => import('../commands/machine/quickstart.ts'),
    },
  ],
  [
    'create',
    { summary: 'create an environment', load: () => import('../commands/environments/create.ts') },
  ],
  [
    'attach',
    {
      summary: 'adopt a running container or process',
      load: () => import('../commands/environments/attach.ts'),
    },
  ],
  [
    'exec',
    {
      summary: 'run a command in an environment',
      load: () => import('../commands/environments/exec.ts'),
    },
  ],
  [
    'run',
    {
      summary: 'create an environment for one command',
      load: () => import('../commands/commands/run.ts'),
    },
  ],
  [
    'ps',
    {
      summary: 'list the commands and processes of an environment',
      load: () => import('../commands/commands/ps.ts'),
    },
  ],
  [
    'logs',
    {
      summary: 'print what a command has printed',
      load: () => import('../commands/commands/logs.ts'),
    },
  ],
  [
    'kill',
    {
      summary: 'send a signal to a command',
      load: () => import('../commands/commands/kill.ts'),
    },
  ],
  [
    'shell',
    {
      summary: 'open an interactive terminal',
      load: () => import('../commands/terminals/shell.ts'),
    },
  ],
  [
    'terminals',
    {
      summary: 'list terminals',
      load: () => import('../commands/terminals/terminals.ts'),
    },
  ],
  [
    'type',
    { summary: 'type into a terminal', load: () => import('../commands/terminals/type.ts') },
  ],
  [
    'screen',
    {
      summary: 'show the screen of a terminal',
      load: () => import('../commands/terminals/screen.ts'),
    },
  ],
  [
    'repl',
    {
      summary: 'work interactively with snapshots and branches',
      load: () => import('../commands/environments/repl.ts'),
    },
  ],
  ['cp', { summary: 'copy files in or out', load: () => import('../commands/files/cp.ts') }],
  [
    'port',
    {
      summary: 'forward a port to an environment',
      load: () => import('../commands/environments/port.ts'),
    },
  ],
  [
    'net',
    {
      summary: 'show or change the network of an environment',
      load: () => import('../commands/environments/net.ts'),
    },
  ],
  [
    'snapshot',
    {
      summary: 'take a snapshot of an environment',
      load: () => import('../commands/snapshots/snapshot.ts'),
    },
  ],
  [
    'prove',
    {
      summary: 'make sure that a snapshot can be restored',
      load: () => import('../commands/snapshots/prove.ts'),
    },
  ],
  [
    'restore',
    {
      summary: 'return an environment to a snapshot',
      load: () => import('../commands/snapshots/restore.ts'),
    },
  ],
  [
    'fork',
    {
      summary: 'create environments from a snapshot',
      load: () => import('../commands/snapshots/fork.ts'),
    },
  ],
  ['diff', { summary: 'show changed files', load: () => import('../commands/files/diff.ts') }],
  [
    'promote',
    {
      summary: 'make one environment what another is',
      load: () => import('../commands/snapshots/promote.ts'),
    },
  ],
  [
    'export',
    {
      summary: 'copy files out into a new directory',
      load: () => import('../commands/files/export.ts'),
    },
  ],
  [
    'apply',
    {
      summary: 'apply file changes to a directory here',
      load: () => import('../commands/files/apply.ts'),
    },
  ],
  ['ls', { summary: 'list environments', load: () => import('../commands/environments/ls.ts') }],
  [
    'snapshots',
    { summary: 'list snapshots', load: () => import('../commands/snapshots/snapshots.ts') },
  ],
  [
    'tree',
    { summary: 'show the tree of snapshots', load: () => import('../commands/snapshots/tree.ts') },
  ],
  [
    'inspect',
    {
      summary: 'show everything about an environment or a snapshot',
      load: () => import('../commands/environments/inspect.ts'),
    },
  ],
  [
    'log',
    {
      summary: 'show the history of an environment',
      load: () => import('../commands/snapshots/log.ts'),
    },
  ],
  [
    'usage',
    {
      summary: 'show disk usage',
      load: () => import('../commands/machine/usage.ts'),
    },
  ],
  [
    'top',
    {
      summary: 'follow what environments use and do',
      load: () => import('../commands/environments/top.ts'),
    },
  ],
  [
    'stats',
    {
      summary: 'show memory, CPU and processes of one or all',
      load: () => import('../commands/environments/stats.ts'),
    },
  ],
  [
    'pause',
    { summary: 'freeze every process', load: () => import('../commands/environments/pause.ts') },
  ],
  [
    'resume',
    {
      summary: 'continue a paused environment',
      load: () => import('../commands/environments/resume.ts'),
    },
  ],
  [
    'policy',
    {
      summary: 'show or change what happens to an environment by itself',
      load: () => import('../commands/environments/policy.ts'),
    },
  ],
  [
    'rename',
    {
      summary: 'rename an environment or a snapshot',
      load: () => import('../commands/environments/rename.ts'),
    },
  ],
  ['rm', { summary: 'remove environments', load: () => import('../commands/environments/rm.ts') }],
  [
    'rm-snapshot',
    { summary: 'remove snapshots', load: () => import('../commands/snapshots/rm-snapshot.ts') },
  ],
  [
    'prune',
    {
      summary: 'remove snapshots that nothing needs',
      load: () => import('../commands/snapshots/prune.ts'),
    },
  ],
  [
    'compact',
    {
      summary: 'squash a long chain of snapshots',
      load: () => import('../commands/snapshots/compact.ts'),
    },
  ],
  [
    'serve',
    {
      summary: 'serve this home to many clients',
      load: () => import('../commands/service/serve.ts'),
    },
  ],
  [
    'dashboard',
    {
      summary: 'open the dashboard in a browser',
      load: () => import('../commands/service/dashboard.ts'),
    },
  ],
  [
    'token',
    {
      summary: 'manage the tokens of a daemon',
      load: () => import('../commands/service/token.ts'),
    },
  ],
  [
    'mcp',
    {
      summary: 'serve a coding agent on stdin and stdout',
      load: () => import('../commands/service/mcp.ts'),
    },
  ],
  [
    'context',
    {
      summary: 'choose the daemon that commands use',
      load: () => import('../commands/service/context.ts'),
    },
  ],
  [
    'config',
    { summary: 'show or change settings', load: () => import('../commands/machine/config.ts') },
  ],
  [
    'doctor',
    {
      summary: 'check whether this machine is ready',
      load: () => import('../commands/machine/doctor.ts'),
    },
  ],
  [
    'bench',
    {
      summary: 'measure branching on this machine',
      load: () => import('../commands/machine/bench.ts'),
    },
  ],
  [
    'completion',
    {
      summary: 'print a completion script',
      load: () => import('../commands/machine/completion.ts'),
      describesAll: true,
    },
  ],
  [
    '__complete',
    { summary: '', load: () => import('../commands/machine/complete.ts'), hidden: true },
  ],
])

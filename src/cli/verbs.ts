import type { MakeCommand } from './make-command.ts'

interface Verb {
  readonly summary: string
  /** Each verb is a file of its own, loaded only when it is used: starting up must stay fast. */
  readonly load: () => Promise<{ readonly make: MakeCommand }>
  readonly hidden?: true
  /** its subject is the whole command line, so all other verbs are loaded with it */
  readonly describesAll?: true
}

/** Every verb, in the order of the help. */
export const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  [
    'quickstart',
    { summary: 'see it work on this machine', load: () => import('./commands/quickstart.ts') },
  ],
  ['create', { summary: 'make an environment', load: () => import('./commands/create.ts') }],
  [
    'exec',
    { summary: 'run a command in an environment', load: () => import('./commands/exec.ts') },
  ],
  ['shell', { summary: 'an interactive terminal', load: () => import('./commands/shell.ts') }],
  ['cp', { summary: 'copy files in or out', load: () => import('./commands/cp.ts') }],
  [
    'port',
    { summary: 'reach a port inside from the host', load: () => import('./commands/port.ts') },
  ],
  [
    'snapshot',
    { summary: 'keep a moment to return to', load: () => import('./commands/snapshot.ts') },
  ],
  ['restore', { summary: 'go back to a snapshot', load: () => import('./commands/restore.ts') }],
  [
    'fork',
    { summary: 'new environments that go on from here', load: () => import('./commands/fork.ts') },
  ],
  ['diff', { summary: 'what became of the files', load: () => import('./commands/diff.ts') }],
  ['promote', { summary: 'keep the best branch', load: () => import('./commands/promote.ts') }],
  [
    'export',
    { summary: 'copy files out into a new directory', load: () => import('./commands/export.ts') },
  ],
  [
    'apply',
    { summary: 'make its changes in a directory here', load: () => import('./commands/apply.ts') },
  ],
  ['ls', { summary: 'list environments', load: () => import('./commands/ls.ts') }],
  ['snapshots', { summary: 'list snapshots', load: () => import('./commands/snapshots.ts') }],
  ['tree', { summary: 'what grew from what', load: () => import('./commands/tree.ts') }],
  [
    'log',
    { summary: 'what was done with an environment', load: () => import('./commands/log.ts') },
  ],
  [
    'usage',
    { summary: 'what everything takes of the disk', load: () => import('./commands/usage.ts') },
  ],
  ['stats', { summary: 'what an environment uses', load: () => import('./commands/stats.ts') }],
  ['pause', { summary: 'freeze every process', load: () => import('./commands/pause.ts') }],
  [
    'resume',
    { summary: 'let a paused environment go on', load: () => import('./commands/resume.ts') },
  ],
  [
    'rename',
    { summary: 'give an environment another name', load: () => import('./commands/rename.ts') },
  ],
  ['rm', { summary: 'remove environments', load: () => import('./commands/rm.ts') }],
  ['rm-snapshot', { summary: 'remove snapshots', load: () => import('./commands/rm-snapshot.ts') }],
  [
    'prune',
    { summary: 'remove snapshots nobody needs', load: () => import('./commands/prune.ts') },
  ],
  [
    'compact',
    { summary: 'fold a long chain of snapshots', load: () => import('./commands/compact.ts') },
  ],
  ['config', { summary: 'the effective settings', load: () => import('./commands/config.ts') }],
  [
    'doctor',
    { summary: 'probe what this machine offers', load: () => import('./commands/doctor.ts') },
  ],
  [
    'bench',
    { summary: 'measure what branching costs here', load: () => import('./commands/bench.ts') },
  ],
  [
    'completion',
    {
      summary: 'a completion script',
      load: () => import('./commands/completion.ts'),
      describesAll: true,
    },
  ],
  ['__complete', { summary: '', load: () => import('./commands/complete.ts'), hidden: true }],
])

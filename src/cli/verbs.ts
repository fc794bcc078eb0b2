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
  ['ls', { summary: 'list environments', load: () => import('./commands/ls.ts') }],
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
  ['config', { summary: 'the effective settings', load: () => import('./commands/config.ts') }],
  [
    'doctor',
    { summary: 'probe what this machine offers', load: () => import('./commands/doctor.ts') },
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

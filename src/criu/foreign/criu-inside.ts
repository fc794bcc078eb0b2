import { dirname } from 'node:path'
import { nativeProgram } from '../../linux/native-program.ts'
import type { Tools } from '../../linux/tools.ts'
import { PrerequisiteError } from '../../model/errors.ts'
import type { Criu } from '../criu.ts'

/** Where CRIU runs. */
export interface Inside {
  /** options of `nsenter` */
  readonly namespaces: readonly string[]
  /** a directory of the host, which is its working directory and that of its images */
  readonly directory: string
  /** groups to join first: paths of `cgroup.procs` */
  readonly groups?: readonly string[]
  /** what to open for it, from `firstFd` on */
  readonly opened?: readonly string[]
}

/** The first descriptor that neither CRIU nor a shell uses for something else. */
export const firstFd = 10

/** The descriptors below it through which CRIU is loaded. */
const [programFd, libraryFd] = [8, 9]

/** What is not the host's must not matter: neither plugins, nor settings, nor a cache in /run. */
const isolated = ['--no-default-config', '--libdir', '.', '--unprivileged']

/**
 * A CRIU that is killed in the middle can leave its code in a process that it dumps. We never kill it, and
 * the kernel kills others first, where it lets this root say so.
 */
const spared = '{ echo -1000 > /proc/$$/oom_score_adj; } 2> /dev/null'

/** Joins groups, opens what is needed, and becomes the rest. */
const script = (verb: string, opened: number) => `
while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done; shift
${verb === 'dump' ? spared : ''}
exec ${programFd}< "$1" ${libraryFd}< "$2"; shift 2
${Array.from({ length: opened }, (_, index) => `exec ${firstFd + index}<> "$1"; shift`).join('\n')}
exec "$@"
`

/**
 * Runs CRIU in other namespaces, in which its own files cannot be seen: it is loaded through descriptors that
 * were opened before. It closes them when it begins.
 */
export function runCriuInside(tools: Tools, criu: Criu, inside: Inside, words: readonly string[]) {
  const { namespaces, directory, groups = [], opened = [] } = inside
  const [own] = criu.files
  const [loader, ...rest] = criu.command
  const program = rest.at(-1)
  if (own === undefined || program === undefined || !criu.command[0].startsWith(own)) {
    throw new PrerequisiteError('only the private CRIU can run in the namespaces of a process', {
      remedy: 'unset `criu`, and run `forkpoint doctor --fix`, which installs one',
    })
  }
  const library = nativeProgram('foreign.so')
  const within = (word: string) => word.replace(own, `/proc/self/fd/${programFd}`)
  const loaded = [
    ...[loader, ...rest.slice(0, -1)].map(within),
    ...['--preload', `/proc/self/fd/${libraryFd}/foreign.so`, within(program)],
  ]
  const [verb = '', ...options] = words
  return tools.run('bash', [
    ...[
      '-c',
      script(verb, opened.length),
      'bash',
      ...groups,
      '--',
      own,
      dirname(library),
      ...opened,
    ],
    ...['env', '-i', 'nsenter', ...namespaces, `--wd=${directory}`, '--'],
    ...[...loaded, verb, ...isolated, '--images-dir', '.', '--work-dir', '.', ...options],
  ])
}

// The package as a stranger has it: packed, and installed in another project. Once in a run, by the first test file that
// needs it; the others wait.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { FORKPOINT_TEST_PROJECT: project } = process.env
if (project === undefined) throw new Error('no FORKPOINT_TEST_PROJECT; run the tests with vitest')

// Not synchronously: the worker must answer meanwhile.
const script = join(import.meta.dirname, 'install.ts')
await promisify(execFile)('flock', [`${project}.lock`, process.execPath, script, project])

/** The other project, where users are when they call the program. */
export const foreignProject = project

/** Where npm puts the programs of a project. */
export const programs = join(project, 'node_modules/.bin')

/** The package itself. */
export const installedPackage = join(project, 'node_modules/forkpoint')

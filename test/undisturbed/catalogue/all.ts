import { filePrograms } from './files.ts'
import { processPrograms } from './processes.ts'
import type { Program } from './program.ts'
import { socketPrograms } from './sockets.ts'
import { timePrograms } from './time.ts'
import { toolPrograms } from './tools.ts'

export { noticingPrograms, refusedPrograms, unavailablePrograms } from './not-watching.ts'

export const programs: readonly Program[] = [
  ...filePrograms,
  ...timePrograms,
  ...socketPrograms,
  ...processPrograms,
  ...toolPrograms,
]

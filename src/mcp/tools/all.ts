import type { Tool } from '../tool.ts'
import { fork, promote, restore, snapshot } from './branching.ts'
import { exec, readCommand, startCommand, stopCommand } from './commands.ts'
import { diff } from './diff.ts'
import { createEnvironment, listEnvironments, remove } from './environments.ts'
import { editFile, readFile, writeFile } from './files.ts'
import { searchFiles } from './search.ts'
import { readScreen, typeTerminal } from './terminals.ts'
import { tree } from './tree.ts'
import { tryCommands } from './try-commands.ts'

/** Every tool, in the order in which a model meets them. */
export const forkpointTools: readonly Tool[] = [
  createEnvironment,
  listEnvironments,
  exec,
  startCommand,
  readCommand,
  stopCommand,
  typeTerminal,
  readScreen,
  readFile,
  writeFile,
  editFile,
  searchFiles,
  snapshot,
  restore,
  fork,
  tryCommands,
  diff,
  promote,
  tree,
  remove,
]

import type { Command } from 'commander'
import type { Cli } from './cli.ts'

/** What the file of each verb exports: a function that adds arguments, options and an action. */
export type MakeCommand = (command: Command, cli: Cli) => Command

import type { Command } from 'commander'
import type { Cli } from './cli.ts'

/** What the file of each verb exports: it gives a command its arguments, options and action. */
export type MakeCommand = (command: Command, cli: Cli) => Command

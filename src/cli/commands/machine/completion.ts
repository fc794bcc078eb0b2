import { Argument, type Command } from 'commander'
import { bashScript } from '../../completion/bash.ts'
import { fishScript } from '../../completion/fish.ts'
import { describeProgram, type ProgramShape } from '../../completion/shape.ts'
import { zshScript } from '../../completion/zsh.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

const scripts = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
} satisfies Record<string, (shape: ProgramShape) => string>

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Print a completion script for verbs, options and the names of environments.')
      .addArgument(
        new Argument('<shell>', 'the shell to complete in').choices(Object.keys(scripts)),
      )
      .action((shell: keyof typeof scripts, _options, self: Command) =>
        cli.perform(self, async (context) => {
          const script = scripts[shell](describeProgram(self.parent ?? self))
          await context.show({ json: { shell, script }, text: () => script.trimEnd() })
        }),
      ),
    [
      ['source <(forkpoint completion bash)', 'for this shell'],
      [
        'forkpoint completion fish > ~/.config/fish/completions/forkpoint.fish',
        'for every new shell',
      ],
    ],
  )

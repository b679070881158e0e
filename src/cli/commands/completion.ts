import { command } from '../command.ts';
import { SHELLS } from '../completion.ts';
import { EXIT, UsageError } from '../exit.ts';

export const completion = command({
  name: 'completion',
  summary: 'print the completion for bash, zsh or fish',
  takes: ['<shell>'],
  options: {},
  help: `Print the completion for a shell. Keys are not completed: that would ask the engine at every tab.

  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh  > "\${fpath[1]}/_holdfast"
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish`,
  async run({ positionals: [shell] }) {
    const script = SHELLS[shell!];
    if (!script) throw new UsageError(`${JSON.stringify(shell)} is none of ${Object.keys(SHELLS).join(', ')}`);
    const { COMMANDS } = await import('./index.ts'); // which has this one
    console.log(script(COMMANDS));
    return EXIT.OK;
  },
});

import { shellWord } from '../../ui/page/shell.ts';
import { type Command, command } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';

type Script = (commands: readonly Command[]) => string;

const flags = ({ options }: Command): string[] => [...Object.keys(options).map((name) => `--${name}`), '--help'];

const bash: Script = (commands) => `_holdfast() {
  local word="\${COMP_WORDS[COMP_CWORD]}" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    # Behind it stands a command of its own.
    [[ \${COMP_WORDS[i]} == -- ]] && { declare -F _command_offset >/dev/null && _command_offset $((i + 1)); return; }
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map((each) => `    ${each.name}) COMPREPLY=($(compgen -W '${flags(each).join(' ')}' -- "$word")) ;;`).join('\n')}
  esac
}
complete -F _holdfast holdfast`;

const zsh: Script = (commands) => `#compdef holdfast
_holdfast() {
  local -a commands
  if ((CURRENT == 2)); then
    commands=(
${commands.map(({ name, summary }) => `      ${shellWord(`${name}:${summary}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local at=\${words[(i)--]}
  if ((at < CURRENT)); then
    shift at words
    ((CURRENT -= at))
    _normal
    return
  fi
  case "\${words[2]}" in
${commands.map((each) => `    ${each.name}) compadd -- ${flags(each).join(' ')} ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = _holdfast ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi`;

const fish: Script = (commands) =>
  [
    'complete -c holdfast -f',
    ...commands.flatMap((each) => [
      `complete -c holdfast -n __fish_use_subcommand -a ${each.name} -d ${shellWord(each.summary)}`,
      ...flags(each).map(
        (flag) => `complete -c holdfast -n '__fish_seen_subcommand_from ${each.name}' -l ${flag.slice(2)}`,
      ),
    ]),
  ].join('\n');

const SHELLS: Readonly<Record<string, Script>> = { bash, zsh, fish };

/** @param commands all commands, this one included */
export const completion = (commands: () => readonly Command[]): Command =>
  command({
    name: 'completion',
    summary: 'print the completion script for bash, zsh or fish',
    takes: ['<shell>'],
    options: {},
    help: `Print the completion script for a shell. It completes no keys: for these it would ask the engine at every Tab.

  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh  > "\${fpath[1]}/_holdfast"
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish`,
    async run({ positionals: [shell] }) {
      const script = SHELLS[shell!];
      if (!script)
        throw new UsageError(
          `there is no completion for ${JSON.stringify(shell)}, only for ${Object.keys(SHELLS).join(', ')}`,
        );
      console.log(script(commands()));
      return EXIT.OK;
    },
  });

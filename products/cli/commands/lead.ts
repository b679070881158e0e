import { MAX_DURATION_MS } from '../../../src/core/index.ts';
import type { Term } from '../../../src/index.ts';
import { checkCommand, labelOf } from '../child/find.ts';
import { supervise } from '../child/supervise.ts';
import { timing } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, openWithin, URL_OPTION } from '../engine.ts';
import { EXIT, messageOf } from '../exit.ts';
import { Interruption, Trouble } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';

const HELP = `Stand for election, and run a command while leading. Of all candidates for the same name, one leads at a time.

  holdfast lead scheduler -- ./scheduler                one scheduler; another machine takes over when this one dies
  holdfast lead bot -u redis://db1 --ttl 10s -- ./bot   another takes over after 10 seconds at most
  holdfast lead bot --one-term -- ./bot                 lead once, and exit with the command's code

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --ttl <time>     how long the others wait if this machine dies (default 30s); it is renewed while the command runs
  --grace <time>   time between SIGTERM and SIGKILL when the lead is lost (default 5s, at most two thirds of the ttl)
  --one-term       do not stand for election again when the command has ended

A <time> is written as 250ms, 30s, 5m, 2h or 1d.

When this process is elected, it starts the command. The command gets HOLDFAST_KEY and HOLDFAST_TOKEN in its
environment; the token grows with every leader. If the lead is lost, holdfast ends the command and all processes that it
started before anyone else leads. Whenever the command has ended, holdfast stands for election again, after a pause that
grows from 100 ms to 30 s while terms are short. If the engine does not answer, holdfast tries again until it answers.

A signal ends the wait. While the command runs, holdfast passes the signal on, and exits when the command has ended.

Exit code: 128 + n if signal n ended the wait; else the command's own, of the last term; 69 the engine refuses the user,
the password or the certificate, or the lead was lost although the command exited with 0; 64 wrong usage; 127 the
command was not found; 126 it cannot be executed.`;

export const lead = command({
  name: 'lead',
  summary: 'run a command while leading, again and again',
  takes: ['<name>', '--', '<command>…'],
  options: {
    ...URL_OPTION,
    ttl: { type: 'string' },
    grace: { type: 'string' },
    'one-term': { type: 'boolean' },
  },
  help: HELP,
  async run({ values, positionals: [name], rest }) {
    const plan = timing(values.ttl, values.grace);
    const oneTerm = values['one-term'] === true;
    checkCommand(rest[0]!);
    using interruption = new Interruption();
    using trouble = new Trouble('holdfast:campaign-failed');
    const patience = { within: MAX_DURATION_MS, onError: trouble.report };
    await using locks = await openWithin(addressOf(values.url), {}, interruption, patience);
    if (!locks) return interruption.exitCode!;
    trouble.over();
    const leader = locks.leader(name!, {
      ttl: plan.ttl,
      notice: plan.notice,
      label: labelOf(rest[0]!),
      autoCampaign: !oneTerm,
      ...(!oneTerm && { onError: (error: unknown) => complain(messageOf(error)) }),
    });
    let code: number | undefined;
    const work = async (term: Term): Promise<void> => {
      trouble.over();
      const ended = await supervise(term, rest, { HOLDFAST_KEY: name, HOLDFAST_TOKEN: `${term.token}` }, plan);
      const again = !oneTerm && interruption.exitCode === undefined;
      if (again && !term.signal.aborted) complain(`the command ended with ${ended}; standing for election again`);
      code = again ? undefined : ended; // a signal from now on ends the wait, and has a code of its own
    };
    await leader.run((term) => interruption.during(() => work(term)), { signal: interruption.signal });
    return code ?? interruption.exitCode ?? EXIT.OK;
  },
});

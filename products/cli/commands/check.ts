import { styleText } from 'node:util';
import { visible } from '../../../src/core/index.ts';
import type { Finding } from '../../../src/index.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT } from '../exit.ts';

const COLOUR = { danger: 'red', warning: 'yellow', info: 'blue' } as const;

export const check = command({
  name: 'check',
  summary: 'find what endangers locks on this engine',
  takes: [],
  options: { ...URL_OPTION, json: { type: 'boolean' } },
  help: `Find what endangers locks on this engine: settings, missing rights, old versions.

  holdfast check
  HOLDFAST_URL=redis://db1 holdfast check && ./deploy.sh

  -u, --url <url>  the engine (default $HOLDFAST_URL, else a local file)
  --json           a line of JSON for each finding

Exit code: 0 no danger was found; 1 there is a danger; 69 the engine is not available.`,
  async run({ values }) {
    const address = addressOf(values.url);
    await using locks = await open(address);
    const findings = await locks.check();
    for (const finding of findings) console.log(values.json ? JSON.stringify(finding) : lineFor(finding));
    if (findings.length === 0 && !values.json)
      console.log(`Found nothing that endangers locks in ${sourceOf(address)}.`);
    return findings.some(({ severity }) => severity === 'danger') ? EXIT.NO : EXIT.OK;
  },
});

const lineFor = ({ severity, code, message, advice }: Finding): string =>
  `${styleText(COLOUR[severity], severity)} ${code}: ${visible(message)}\n  ${visible(advice)}`;

import { parseArgs } from 'node:util';

export const USAGE = `npm run bench -- [flags]: what a lock costs here, against a floor and against others, on servers of our own
  --only redis,file   these groups
  --row 'one caller'  rows whose title has this in it
  --rounds 5          how often each is measured; medians count
  --quick             two short rounds: a look, not a measurement
  --publish           also write the figures into bench/figures.json, and from there into the pages
  --list              the rows there are, by group
  --help              this`;

export interface Flags {
  readonly only: ReadonlySet<string>;
  readonly row: string;
  readonly rounds: number;
  readonly quick: boolean;
  readonly publish: boolean;
  readonly list: boolean;
  readonly help: boolean;
}

/** @throws Error that says which flag is wrong */
export function flagsOf(args: readonly string[], groups: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: groups.join() },
      row: { type: 'string', default: '' },
      rounds: { type: 'string', default: '5' },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const only = values.only.split(',');
  const unknown = only.find((group) => !groups.includes(group));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${groups.join(', ')}`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: give a whole number from 1`);
  if (values.publish && values.quick) throw new Error('--publish: a quick look is not published');
  return { ...values, only: new Set(only), rounds };
}

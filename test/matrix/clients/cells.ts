import { CLIENTS, type ClientRow, type ClientSetting, type RuntimeName } from './rows.ts';

/** The conformance suite over a client, with one of its settings, in a runtime, on a server. */
export interface ClientCell {
  /** Of its result. */
  readonly name: string;
  readonly row: ClientRow;
  /** A row of the matrix by its name, or `none`. */
  readonly on: string;
  readonly title: string;
  readonly setting: ClientSetting;
  readonly runtime: RuntimeName;
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^-|-$/g, '');

function cell(row: ClientRow, on: string, title: string, runtime: RuntimeName): ClientCell {
  const parts = [on === 'none' ? '' : `${on}-`, 'client-', slug(row.title), '-', slug(title), '-', slug(runtime)];
  return { name: parts.join(''), row, on, title, setting: row.settings[title]!, runtime };
}

/** All settings on the first server, the plain one on the others and in other runtimes. */
export const clientCells: readonly ClientCell[] = CLIENTS.flatMap((row) => {
  const usual = row.builtIn ?? 'node-24';
  const [first, ...others] = row.servers;
  return [
    ...Object.keys(row.settings).map((title) => cell(row, first!, title, usual)),
    ...others.map((on) => cell(row, on, 'plain', usual)),
    ...(row.runtimes ?? []).map((runtime) => cell(row, first!, 'plain', runtime)),
  ];
});

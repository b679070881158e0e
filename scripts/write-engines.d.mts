/** The name of the page of an engine, under `docs/backends`: its own, or that of several engines. */
export function pageOfEngine(engine: string): string;
/** What the pages say of themselves, by the tables that it is for. */
export function rowsByTable(): Record<string, { readonly page: string; readonly row: string }[]>;
/** The text of each file that lists the engines, as it has to be. */
export function written(): Record<string, string>;

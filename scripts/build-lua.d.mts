/** The module of the scripts in a folder, which ends with a slash. */
export function compile(source: URL, layouts: Readonly<Record<string, unknown>>): string;

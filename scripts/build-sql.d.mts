/** A text as a template literal. */
export function literal(text: string): string;
/** The statements of a file, as pairs of name and text. */
export function statementsOf(file: string, text: string): [name: string, text: string][];

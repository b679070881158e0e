/** A text as a template literal. */
export function literal(text: string): string;

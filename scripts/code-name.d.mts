export function uncommittedSources(): string;
export function nameOfSources(folder?: string): string;
export function nameOfLock(folder?: string): string;

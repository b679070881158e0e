import { AsyncLocalStorage } from 'node:async_hooks';

/** Who asks: the label of the operation in whose async context something runs. */
export const asking = new AsyncLocalStorage<string>();

/** The label of an operation; whatever has another one belongs to nobody in particular. */
export const labelOf = (op: number): string => `op ${op}`;
export const isLabel = (label: string | undefined): boolean => label?.startsWith('op ') ?? false;

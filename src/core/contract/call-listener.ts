import { reasonOf } from './errors.ts';

/** Tells a user's function something. What that throws, or rejects with, a warning tells; it harms nothing else. */
export function callListener<T>(name: string, listener: (told: T) => unknown, told: T): void {
  const warn = (error: unknown): void =>
    process.emitWarning(`${name} failed, and holdfast goes on: ${reasonOf(error)}`, 'HoldfastListenerWarning');
  try {
    Promise.resolve(listener(told)).catch(warn);
  } catch (error) {
    warn(error);
  }
}

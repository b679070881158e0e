/** What the sources take from the global scope of Node, put in by the bundler where they name it. */
export const process = {
  pid: 1,
  emitWarning: (message: string) => console.warn(message),
};

// Not every browser has it yet.
if (!Symbol.asyncDispose) Object.defineProperty(Symbol, 'asyncDispose', { value: Symbol.for('Symbol.asyncDispose') });

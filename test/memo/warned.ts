/** The warnings of this process from now on, each as `type: text`, in place of the ones on its standard error. */
export function warned(): { readonly told: readonly string[] } & Disposable {
  const told: string[] = [];
  const { emitWarning } = process;
  process.emitWarning = (text: string | Error, type?: unknown): void => void told.push(`${type}: ${text}`);
  return {
    told,
    [Symbol.dispose](): void {
      process.emitWarning = emitWarning;
    },
  };
}

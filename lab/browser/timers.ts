/** `node:timers` and `node:timers/promises`: a turn of the event loop, without the four milliseconds that `setTimeout` takes. */
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

function soon(fn: () => void): void {
  waiting.push(fn);
  port2.postMessage(0);
}

/** With a function it calls it, as `node:timers` has it; without one it gives a promise, as `node:timers/promises`. */
export function setImmediate(fn?: () => void): Promise<void> | undefined {
  if (!fn) return new Promise((resolve) => soon(resolve));
  soon(fn);
  return undefined;
}

/** Seconds of `90s`, `10m`, `2h`. */
export function durationOf(text: string): number {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (!amount) throw new Error(`--for is ${JSON.stringify(text)}; it must be like 90s, 10m or 2h`);
  return Number(amount) * { s: 1, m: 60, h: 3_600 }[unit as 's'];
}

import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Writes a span context in 55 characters. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** Undefined for a text that names no span. */
export function spanContextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = FORM.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}

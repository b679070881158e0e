import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** A span as a test looks at it. */
export interface Seen {
  readonly name: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly trace: string;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly message: string | undefined;
}

const seen = (span: ReadableSpan): Seen => ({
  name: span.name,
  id: span.spanContext().spanId,
  parent: span.parentSpanContext?.spanId,
  trace: span.spanContext().traceId,
  links: span.links.map(({ context }) => context.spanId),
  attributes: span.attributes,
  failed: span.status.code === 2,
  message: span.status.message,
});

/** A real tracer, and what it has exported. */
export function tracing(sampler?: Sampler, ...more: SpanProcessor[]) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter }), ...more],
    ...(sampler && { sampler }),
  });
  const tracer = provider.getTracer('test');
  return {
    tracer,
    /** Runs inside a span of the application. */
    async inside<T>(name: string, fn: (span: Span) => Promise<T>): Promise<T> {
      const span = tracer.startSpan(name);
      try {
        return await context.with(trace.setSpan(context.active(), span), () => fn(span));
      } finally {
        span.end();
      }
    },
    /** Those that have ended, in that order. */
    async spans(): Promise<Seen[]> {
      await provider.forceFlush();
      return exporter.getFinishedSpans().map(seen);
    },
  };
}

import {
  type Attributes,
  context,
  type Span,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type Cancel, type LockEvent, reasonOf, systemClock } from '../core/index.ts';
import { type Holder, type Holders, traceparentOf } from './holders.ts';
import type { Kinds } from './kinds.ts';
import { type End, forEachEnd, type Listeners, OUTCOMES, typeOfError } from './listening.ts';

/** How long a request waits until we ask the engine for the holders of its key, ms. */
const LOOK_UP_AFTER_MS = 50;

interface RequestSpans {
  readonly kind: string;
  readonly attributes: Attributes;
  /**
   * Lasts from the request to the end of its hold. The claim gets the id of this span, since the hold has no span yet. If the request
   * does not wait, this span is renamed to `lock.hold`. If it waits, this span stays `lock`, with a `lock.wait` and a `lock.hold` inside.
   */
  readonly lock: Span;
  wait?: Span;
  hold?: Span;
  /** Cancels the look-up of the holders. */
  cancel?: Cancel;
}

interface SpanPlan {
  readonly kinds: Kinds;
  readonly keys: boolean;
  /** Whether a request without a trace gets no span, and begins no trace. */
  readonly inTracesOnly: boolean;
  readonly holders: Holders;
  /** Gets errors of the tracer that would reach no caller. */
  readonly failed: (error: unknown) => void;
}

/** Traces the locks of one `Locks`. */
export class LockSpans {
  readonly listeners: Listeners;
  readonly #tracer: Tracer;
  readonly #plan: SpanPlan;
  /** Spans by the number of the request; undefined if the span is not recorded. */
  readonly #open = new Map<number, RequestSpans | undefined>();
  /** The exclusive holders in this process, by key. We need not ask the engine for these. */
  readonly #local = new Map<string, { readonly request: number; readonly holder: Holder }>();

  constructor(tracer: Tracer, plan: SpanPlan) {
    this.#tracer = tracer;
    this.#plan = plan;
    this.listeners = {
      waiting: (event) => this.#waits(event),
      ...forEachEnd((event, end) => this.#end(event, end)),
      released: (event) => this.#over(event, 'released'),
      lost: (event) => this.#over(event, 'lost'),
    };
  }

  /** Begins the span of a request in its caller's context. @returns the id of the span, for the claim */
  readonly begin = (request: { event(): LockEvent }): string | undefined => {
    try {
      if (!this.#isTraced()) return undefined;
      const traced = this.#begin(request.event());
      return traced && traceparentOf(traced.lock.spanContext());
    } catch (error) {
      this.#plan.failed(error); // the request goes on in any case
      return undefined;
    }
  };

  /** Ends all open spans: a span without an end is not exported. */
  stop(): void {
    for (const traced of this.#open.values()) if (traced) this.#close(traced);
    this.#open.clear();
    this.#local.clear();
  }

  #begin({ request, key, type, backend }: LockEvent): RequestSpans | undefined {
    if (this.#open.has(request)) return this.#open.get(request);
    const kind = this.#plan.kinds.of(key);
    const attributes: Attributes = { 'lock.backend': backend, 'lock.kind': kind, 'lock.type': type };
    if (this.#plan.keys) attributes['lock.key'] = key;
    const lock = this.#tracer.startSpan(`lock ${kind}`, { attributes });
    const traced = lock.isRecording() ? { kind, attributes, lock } : undefined;
    this.#open.set(request, traced);
    return traced;
  }

  /** Whether a request gets spans: not if its trace is not sampled. To begin a span and read its `isRecording()` would take ten times as long. */
  #isTraced(): boolean {
    const caller = trace.getSpanContext(context.active());
    return caller ? (caller.traceFlags & TraceFlags.SAMPLED) !== 0 : !this.#plan.inTracesOnly;
  }

  #within({ lock, kind, attributes }: RequestSpans, name: string): Span {
    return this.#tracer.startSpan(`${name} ${kind}`, { attributes }, trace.setSpan(context.active(), lock));
  }

  #waits(event: LockEvent): void {
    const traced = this.#isTraced() ? this.#begin(event) : undefined;
    if (!traced) return;
    traced.wait = this.#within(traced, 'lock.wait');
    const lookUp = (): void => void this.#lookUp(event.key, traced).catch(this.#plan.failed);
    traced.cancel = systemClock.after(LOOK_UP_AFTER_MS, lookUp, true);
  }

  async #lookUp(key: string, { wait }: RequestSpans): Promise<void> {
    const local = this.#local.get(key);
    const holders = local ? [local.holder] : await this.#plan.holders.of(key);
    if (!wait?.isRecording() || holders.length === 0) return;
    const labels = holders.map(({ label }) => label);
    wait.setAttribute('lock.holder', labels);
    // The API before 1.9 has no `addLink`.
    for (const { span, label } of holders)
      if (span) wait.addLink?.({ context: span, attributes: { 'lock.holder': label } });
  }

  #end(event: LockEvent, end: End): void {
    const traced = this.#open.get(event.request);
    if (!traced) {
      this.#open.delete(event.request);
      return;
    }
    traced.cancel?.();
    const { lock, wait } = traced;
    const outcome = { 'lock.outcome': OUTCOMES[end] };
    wait?.setAttributes(outcome).end();
    if (end === 'acquired' || end === 'handedOver') this.#holds(event, traced);
    else {
      lock.setAttributes(outcome);
      if (end === 'timedOut' || end === 'failed') this.#fail(lock, event.error);
      this.#close(traced);
      this.#open.delete(event.request);
    }
  }

  #holds({ request, key, label, token }: LockEvent, traced: RequestSpans): void {
    if (traced.wait) traced.hold = this.#within(traced, 'lock.hold');
    else traced.hold = traced.lock.updateName(`lock.hold ${traced.kind}`);
    if (token === undefined) return;
    traced.hold.setAttribute('lock.token', `${token}`);
    this.#local.set(key, { request, holder: { label, span: traced.lock.spanContext() } });
  }

  /** Ends the spans of a hold once: a lost hold may be released later. */
  #over({ request, key, error }: LockEvent, outcome: string): void {
    const traced = this.#open.get(request);
    if (!traced) return;
    this.#open.delete(request);
    if (this.#local.get(key)?.request === request) this.#local.delete(key);
    traced.hold?.setAttribute('lock.outcome', outcome);
    if (traced.hold && error !== undefined) this.#fail(traced.hold, error);
    this.#close(traced);
  }

  #close({ cancel, wait, hold, lock }: RequestSpans): void {
    cancel?.();
    wait?.end();
    hold?.end();
    if (hold !== lock) lock.end();
  }

  #fail(span: Span, error: unknown): void {
    const type = typeOfError(error); // without keys it stands for the message, which names the key
    span.setAttribute('error.type', type);
    span.setStatus({ code: SpanStatusCode.ERROR, message: this.#plan.keys ? reasonOf(error) : type });
  }
}
